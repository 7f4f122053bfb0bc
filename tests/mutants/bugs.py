"""Bugs that somebody could write, each with who must catch it: `simulate` (within 500 seeds), or `TARGET TEST`."""

from typing import NamedTuple


class Bug(NamedTuple):
    name: str
    file: str
    old: str  # there exactly once
    new: str
    catcher: str = "simulate"


VERIFIER, ROUTER, DRAFTER = "services/verifier/", "services/router/", "services/drafter/"

BUGS = [
    # The verifier's fences.
    Bug("a verifier ignores the epoch", VERIFIER + "sequences.cpp",
        "return at == sequences.end() || (*at)->epoch != epoch ? nullptr : at->get();",
        "return at == sequences.end() || epoch == 0 ? nullptr : at->get();"),
    Bug("no hash check of a tree", VERIFIER + "drafting.cpp",
        "fence.base_length != length || fence.prefix_hash != sequence->hash.value() ||", "fence.base_length != length ||"),
    Bug("no hash check of a parked tree", VERIFIER + "drafting.cpp",
        " &&\n      parked.fence.prefix_hash == sequence.hash.value()) {", ") {"),
    Bug("no round check of a tree", VERIFIER + "drafting.cpp",
        "if (fence.round != sequence->round || fence.base_length", "if (fence.base_length"),
    Bug("a tree is taken twice in a round", VERIFIER + "drafting.cpp",
        "!sequence->draft.asked || sequence->draft.answered) {", "!sequence->draft.asked) {",
        "verifier_test DraftingTest.TakesOneTreeARound"),
    Bug("a parked tree is used twice", VERIFIER + "drafting.cpp",
        "const Tree parked = *std::exchange(sequence.parked, std::nullopt);", "const Tree parked = *sequence.parked;"),
    Bug("a tree joins a step that runs", VERIFIER + "drafting.cpp",
        "if (sequence->root_in_step) return late();", ""),
    # The verifier's sequences.
    Bug("a repeated Start begins a second sequence", VERIFIER + "sequences.cpp",
        "if (same != sequences.end()) {", "if (same != sequences.end() && (*same)->epoch != start.epoch) {",
        "verifier_test VerifierTest.AnswersARepeatedStart*"),
    Bug("tokens are sent once only", VERIFIER + "verifier.cpp",
        "if (unacked && now >= sequence->resend_at)", "if (unacked && now < Time(0))"),
    Bug("an Ack of all tokens ends a sequence", VERIFIER + "sequences.cpp",
        "if (event.message.finished && !sequence->running()) {", "if (next == sequence->output() && !sequence->running()) {",
        "verifier_test VerifierTest.SendsTheErrorAgain*"),
    Bug("leases never end", VERIFIER + "verifier.cpp",
        "if (now < sequence->lease_ends || sequence->in_step) return false;", "if (now >= Time(0)) return false;"),
    Bug("heartbeats renew no lease", VERIFIER + "verifier.cpp",
        "if (sequence->id.router == event.message.router) sequence->lease_ends", "if (false) sequence->lease_ends",
        "verifier_test VerifierTest.FreesASequenceWhoseLease*"),
    Bug("a heartbeat renews every router's leases", VERIFIER + "verifier.cpp",
        "if (sequence->id.router == event.message.router) sequence->lease_ends", "sequence->lease_ends"),
    Bug("a finished sequence keeps its cache", VERIFIER + "steps.cpp",
        "  drafting.release(sequence, effects);\n  sequence.table.shrink(0);\n", "  drafting.release(sequence, effects);\n",
        "verifier_test VerifierTest.*Cache*"),
    Bug("the noise starts over after a replay", VERIFIER + "gather.cpp",
        ".position = static_cast<uint32_t>(sequence.output() + depth),",
        ".position = static_cast<uint32_t>(sequence.output() - sequence.acked + depth),"),
    # The cache.
    Bug("the accepted path is not moved", VERIFIER + "settle.cpp",
        "sequence.table.commit(sequence.root(), path, sequence.moves);", ""),
    Bug("who lost its cache goes on as if not", VERIFIER + "steps.cpp",
        "    (*victim)->cached = 0;\n", ""),
    # The drafts.
    Bug("a Resync is answered from the wrong place", VERIFIER + "drafting.cpp",
        "holds(*sequence, plausible ? message.held : 0);", "holds(*sequence, plausible ? message.held + 1 : 0);",
        "verifier_test VerifierTest.AnswersAResyncFrom*"),
    Bug("a lost Attach is not said again", VERIFIER + "drafting.cpp",
        "if (link.ask_again && now >= *link.ask_again) attach(link, now, effects);", "if (now < Time(0)) attach(link, now, effects);",
        "verifier_test DraftingTest.AttachesAgain*"),
    Bug("a drafter applies stale rounds", DRAFTER + "sequences.cpp",
        "if (fence.round < held->round) return Fit::stale;", "",
        "drafter_test Fit.IsStale*"),
    Bug("a drafter ignores the prefix", DRAFTER + "sequences.cpp",
        "if (fence.base_length == held->length && fence.prefix_hash == held->hash.value()) return Fit::extend;",
        "if (fence.base_length == held->length) return Fit::extend;",
        "drafter_test DrafterActor.ForgetsAPrefix*"),
    Bug("a drafter never frees", DRAFTER + "drafter.cpp",
        "if (now >= config.sequence_lease) free(", "if (now < Time(0)) free("),
    # The router.
    Bug("repeated tokens are delivered again", ROUTER + "stream.cpp",
        "const int64_t skip = std::min<int64_t>(next_index(), end) - first;", "const int64_t skip = 0;"),
    Bug("a gap is not noticed", ROUTER + "stream.cpp",
        "if (first > next_index()) {", "if (false) {"),
    Bug("a Start is sent once only", ROUTER + "failover.cpp",
        "} else if (now - request.start_sent >= ms(config.start_repeat_ms)) {", "} else if (now < Time(0)) {"),
    Bug("sequence ids collide between routers", ROUTER + "router_state.h",
        "return {config.incarnation, request.submit.request};", "return {1, request.submit.request};"),
    Bug("a replay forgets what is out", ROUTER + "router.cpp",
        "  start.tokens.insert(start.tokens.end(), emitted.begin(), emitted.end());\n", "",
        "router_test FailoverTest.ReplaysOnAnotherVerifierWith*"),
    Bug("a replay goes to other numerics", ROUTER + "assign.cpp",
        "(!request.pinned() || worker.backend() == request.backend)", "true"),
    Bug("a lost verifier's requests are forgotten", ROUTER + "failover.cpp",
        "  workers_changed = drafters_changed = true;\n  strand(peer);\n  workers.remove(peer);",
        "  workers_changed = drafters_changed = true;\n  workers.remove(peer);"),
    Bug("a silent verifier keeps its requests", ROUTER + "failover.cpp",
        "    workers_changed = drafters_changed = true;\n    strand(peer);\n  }\n  for",
        "    workers_changed = drafters_changed = true;\n  }\n  for",
        "router_test FailoverTest.FencesTokensOfAVerifierThatWakes*"),
    Bug("an Assign is sent once only", ROUTER + "failover.cpp",
        "if (request.assignment > 0 && now - request.assign_sent >= ms(config.assign_repeat_ms)) send_assign(request);", "",
        "router_test DraftersTest.AnAssignIsSaidAgain*"),
    Bug("Leaving is said once only", "common/actor/membership.h",
        "if (leaving_) say_leaving(link, effects);  // the first may be lost", "",
        "verifier_test VerifierTest.SaysThatItIsLeavingWith*"),
    Bug("tokens nobody wants are not cancelled", ROUTER + "router.cpp",
        "if (tokens.sequence.router == config.incarnation) send(from.peer, Cancel{tokens.sequence, tokens.epoch});", ""),
]
