// A verify step: gathered, run by the compute thread, settled.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "common/base/check.h"
#include "services/verifier/delivery.h"
#include "services/verifier/settle.h"
#include "services/verifier/verifier_state.h"

namespace slipstream {

void Verifier::State::start_step(Time now, Effects& effects) {
  if (computing) return;  // one step at a time
  const Ready ready = schedule.ready(sequences, now);
  if (start_head(ready, now, effects)) return;
  if (schedule.waits(ready, now)) return;
  schedule.cut_trees(ready.sequences);
  slices = gather(ready.sequences, schedule.limits(), cache, plan);
  if (slices.empty()) {  // the oldest sequence always finds room, but it may be one that waits for its tree alone
    CHECK(ready.kept_back, "{} sequences are ready and none fits the cache", ready.sequences.size());
    return;
  }
  for (const BatchSlice& slice : slices) counters.prefix_tokens += static_cast<uint64_t>(slice.adopted_rows);
  computing = true;
  const bool scores = std::ranges::any_of(slices, [](const BatchSlice& slice) { return slice.rows.scored > 0; });
  schedule.started(load_of(plan, schedule.cost().window()), scores ? StepKind::scores_prompts : StepKind::usual, now);
  schedule.set_prices(sequences);
  effects.push_back(Run<VerifyPlan>{std::move(plan)});
}

void Verifier::State::on(Ran<VerifyPlan, StepOutput> event, Time now, Effects& effects) {
  computing = false;
  if (!event.job.head_asks.empty()) return head_drafted(std::move(event), now, effects);
  plan = std::move(event.job);  // its buffers serve the next step
  int accepted = 0, decoding = 0;
  for (const BatchSlice& slice : std::exchange(slices, {})) {
    VerifierSequence* sequence = find(slice);
    if (sequence == nullptr) {  // it ended while the step ran
      for (const KindIndex kind : slice.kinds) counters.fates.settle(kind, 1, Fate::stale);
      continue;
    }
    sequence->step = {};
    if (!event.result) {
      fail(*sequence, slice, event.result.error().message, now, effects);
    } else if (!keep_prompt_logprobs(*sequence, slice, plan, *event.result, counters)) {
      end_by_error(*sequence, slice, now, effects);
    } else if (!slice.decodes) {
      sequence->context.computed(slice.rows.context_rows);
      cache.keep(sequence->context);
      keep_features(*sequence, slice, *event.result, config.features.numbers, {});
      rounds.feed(*sequence, effects);
      if (slice.rows.scored > 0) deliver(*sequence, now, effects);
    } else {
      ++decoding;
      accepted += decoded(*sequence, slice, *event.result, now, effects);
    }
  }
  if (!event.result) return schedule.failed();
  worker.computed(Time(event.result->forward_us));
  schedule.ended(Time(event.result->forward_us), decoding > 0 ? static_cast<double>(accepted) / decoding : 0, now);
}

namespace {

// [nodes + 1] the target's choice after each row of the tree; empty if the rule samples from q: the
// compute job has accepted and rejected by probabilities.
std::span<const TokenId> choices_of(const BatchSlice& slice, const StepOutput& output) {
  if (slice.rejection_task >= 0) return {};
  const auto rows = static_cast<size_t>(slice.tree.size()) + 1;
  return std::span(output.sampled_tokens).subspan(static_cast<size_t>(slice.rows.first_wanted), rows);
}

// The accepted path: the compute job has found it if the rule samples from q, else it follows the
// target's own tokens.
Walk walk_of(const BatchSlice& slice, const StepOutput& output) {
  if (slice.rejection_task >= 0) return output.rejections[static_cast<size_t>(slice.rejection_task)].walk;
  return walk(slice.tree.tokens(), choices_of(slice, output));
}

}  // namespace

int Verifier::State::decoded(VerifierSequence& sequence, const BatchSlice& slice, const StepOutput& output, Time now,
                             Effects& effects) {
  const Walk walked = walk_of(slice, output);
  const Settled settled = settle(sequence, slice, walked, counters);
  keep_features(sequence, slice, output, config.features.numbers, settled.path);
  if (slice.rejection_task < 0 && !output.near_ties.empty()) {
    const auto rows = static_cast<size_t>(slice.tree.size()) + 1;
    add_near_ties(sequence, settled, std::span(output.near_ties).subspan(static_cast<size_t>(slice.rows.first_wanted), rows),
                  counters);
  }
  if (slice.rejection_task >= 0) {
    add_spent(sequence, settled, output.rejections[static_cast<size_t>(slice.rejection_task)].spent);
  }
  if (sequence.spec.top_logprobs) {
    const auto rows = static_cast<size_t>(slice.tree.size()) + 1;
    keep_logprobs(sequence, settled, std::span(output.logprobs).subspan(static_cast<size_t>(slice.rows.first_logprob), rows));
  }
  const bool no_token = sequence.output.finish == Finish::error;
  bool follows = true;
  if (no_token || sequence.running()) {
    const auto emitted = std::span(walked.emitted).first(static_cast<size_t>(settled.emitted));
    follows = follow_grammar(sequence, emitted, no_token, effects);
  }
  if (no_token && follows) explain_no_token(sequence, config.fingerprint.vocabulary, counters);
  if (!no_token) cache.keep(sequence.context);
  if (settled.emitted > 0 && !sequence.first_token) sequence.first_token = now;
  ++(slice.tree.empty() ? counters.plain_rounds : counters.draft_rounds);
  const auto round = static_cast<double>((now - sequence.drafting.round_began).count());
  counters.overhead_seconds.observe((round - output.forward_us) * 1e-6);
  if (!slice.tree.empty()) sequence.drafting.rate.tree(slice.tree.depth(), settled.accepted_nodes);
  if (sequence.spec.trees > 0) report_tree(sequence, slice.tree.tokens(), walked, settled.emitted);
  const auto accepted = static_cast<size_t>(settled.accepted_nodes);
  rounds.end(
      sequence,
      {.tree = slice.tree.tokens(), .path = std::span(walked.accepted).first(accepted), .choices = choices_of(slice, output)},
      now);
  log_lateness(sequence, now, effects);
  deliver(sequence, now, effects);
  if (sequence.running()) {
    rounds.begin(sequence, now, effects);
  } else {
    finish(sequence, now, effects);
  }
  return settled.accepted_nodes;
}

// Of a round that emitted nothing there is no token to send it with.
void Verifier::State::report_tree(VerifierSequence& sequence, const TokenTree& tree, const Walk& walked, int emitted) {
  if (emitted == 0) return;
  const int32_t first = sequence.context.output() - emitted;
  TreeReport report =
      tree_report({.first_index = first, .tree = tree, .walk = walked, .emitted = emitted}, rounds.proposals(sequence));
  if (!report.nodes.empty()) sequence.output.trees.add(std::move(report), sequence.spec.trees);
}

bool Verifier::State::follow_grammar(VerifierSequence& sequence, std::span<const TokenId> emitted, bool no_token,
                                     Effects& effects) {
  if (!sequence.grammar) return true;
  const uint64_t most = config.grammar_work_max_ns / (sequence.drafting.draft.plain ? kGrammarWorkOfDrafts : 1);
  if (!no_token && sequence.grammar->work_ns() > most) {
    follow_beside(sequence, emitted, effects);
    return true;
  }
  const Result<void> followed = no_token ? sequence.grammar->follow(emitted) : sequence.grammar->advance(emitted);
  if (!followed) cannot_follow(sequence, followed.error().message);
  return followed.has_value();
}

void Verifier::State::follow_beside(VerifierSequence& sequence, std::span<const TokenId> emitted, Effects& effects) {
  sequence.follows = true;
  effects.push_back(FollowGrammar{.sequence = sequence.identity.number,
                                  .guide = *sequence.grammar,
                                  .tokens = {emitted.begin(), emitted.end()},
                                  .tenant = sequence.spec.tenant});
}

void Verifier::State::on(GrammarFollowed event, Time now, Effects& effects) {
  VerifierSequence* sequence = find_number(event.sequence);
  if (sequence == nullptr) return;
  sequence->follows = false;
  if (event.followed) return;
  cannot_follow(*sequence, event.followed.error().message);
  deliver(*sequence, now, effects);
  finish(*sequence, now, effects);
}

void Verifier::State::cannot_follow(VerifierSequence& sequence, const std::string& why) {
  ++counters.grammar_failures;
  sequence.output.finish = Finish::error;
  sequence.output.field = kGrammarField;
  sequence.output.reason = fmt::format("it cannot be said what `{}` allows after the first {} tokens of this answer: {}",
                                       kGrammarField, sequence.context.output(), why);
}

void Verifier::State::fail(VerifierSequence& sequence, const BatchSlice& slice, const std::string& reason, Time now,
                           Effects& effects) {
  sequence.output.finish = Finish::error;
  sequence.output.reason = reason;
  end_by_error(sequence, slice, now, effects);
}

void Verifier::State::end_by_error(VerifierSequence& sequence, const BatchSlice& slice, Time now, Effects& effects) {
  sequence.fates.settle(slice.kinds, Fate::stale);
  deliver(sequence, now, effects);
  finish(sequence, now, effects);
}

void Verifier::State::log_lateness(const VerifierSequence& sequence, Time now, Effects& effects) {
  const SequenceDrafter* lead = sequence.drafting.lead();
  if (lead == nullptr) return;  // a sequence that waits for a drafter will say it
  const auto tally = late_trees.look(counters, now);
  if (!tally) return;
  const auto in_ms = [](Time time) { return std::chrono::duration<double, std::milli>(time).count(); };
  const Time answers_in = rounds.expected_in(sequence, *lead, sequence.drafting.round_began);
  effects.push_back(Note{
      fmt::format(
          "{} of the last {} trees asked for came too late: one is waited for {:g} ms at most (--deadline-us of the router), "
          "and only while waiting pays (--wait-percent here); the newest drafter {}. Give drafters cores of their own or "
          "a smaller draft model, or raise these",
          tally->late, tally->asked, in_ms(Time(lead->tuning.deadline_us)),
          answers_in == Time{} ? "has not answered yet" : fmt::format("answers in {:.0f} ms", in_ms(answers_in))),
      true});
}

}  // namespace slipstream
