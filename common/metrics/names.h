// The names and help texts of all metrics of the product. docs/use/METRICS.md explains each of
// them, and tests/tidy fails if a name is in only one of the two files.
#pragma once

#include <string_view>

namespace slipstream {

struct MetricName {
  std::string_view name;
  std::string_view help;
};

namespace metric {
inline constexpr MetricName kBuildInfo{"slipstream_build_info", "Always 1; labels say what runs."};
// Router: requests. submitted = the requests of all outcomes + waiting + live.
inline constexpr MetricName kRouterSubmitted{"slipstream_router_requests_submitted_total",
                                             "Chat requests that passed parsing."};
inline constexpr MetricName kRouterRequests{"slipstream_router_requests_total", "Chat requests that ended, by outcome."};
inline constexpr MetricName kRouterErrors{"slipstream_router_errors_total", "Requests answered with an error, by its code."};
inline constexpr MetricName kRouterLive{"slipstream_router_requests_live", "Requests that a verifier works on now."};
inline constexpr MetricName kRouterWaiting{"slipstream_router_requests_waiting", "Requests that wait for a verifier now."};
inline constexpr MetricName kRouterExpectedWait{"slipstream_router_expected_wait_seconds",
                                                "Expected wait of a request that comes now, before its own prefill."};
inline constexpr MetricName kRouterQueueSeconds{"slipstream_router_queue_seconds", "From submission to the first Start."};
inline constexpr MetricName kRouterFirstTokenSeconds{"slipstream_router_time_to_first_token_seconds",
                                                     "From submission to the first token."};
inline constexpr MetricName kRouterInterTokenSeconds{"slipstream_router_inter_token_seconds",
                                                     "Between tokens; those of one verify step share its time evenly."};
inline constexpr MetricName kRouterRequestSeconds{"slipstream_router_request_seconds", "From submission to the last token."};
// Router: tokens.
inline constexpr MetricName kRouterPromptTokens{"slipstream_router_prompt_tokens_total", "Prompt tokens of admitted requests."};
inline constexpr MetricName kRouterOutputTokens{"slipstream_router_output_tokens_total",
                                                "Tokens delivered, each once, by whether a drafter had guessed it."};
inline constexpr MetricName kRouterTokenFaults{
    "slipstream_router_token_faults_total", "Tokens messages not taken as they came: repeated tokens, gaps, stale, invalid."};
// Router: work handed to verifiers.
inline constexpr MetricName kRouterStarts{"slipstream_router_starts_total", "Starts sent, by kind: first, repeated, replay."};
inline constexpr MetricName kRouterRules{"slipstream_router_rules_total",
                                         "Starts by the acceptance rule asked for, the one that ran, and why another did."};
inline constexpr MetricName kRouterPlacements{"slipstream_router_placements_total",
                                              "Requests given to a verifier, by why there: load, affinity, rebalance."};
inline constexpr MetricName kRouterAssigns{"slipstream_router_assigns_total",
                                           "Live requests that were given other drafters than before."};
inline constexpr MetricName kRouterStartsRefused{"slipstream_router_starts_refused_total", "Starts that a verifier refused."};
// Router: workers.
inline constexpr MetricName kRouterWorkers{"slipstream_router_workers", "Workers that new work may go to, by role."};
inline constexpr MetricName kRouterWorkerBusy{"slipstream_router_worker_busy_ratio",
                                              "Share of time computing, as the worker says."};
inline constexpr MetricName kRouterDrafterGain{
    "slipstream_router_drafter_gain_tokens",
    "Tokens that an ask for a tree wins, less what its rows cost: mean of what verifiers report."};
inline constexpr MetricName kRouterWorkerFaults{"slipstream_router_worker_faults_total",
                                                "Workers refused, lost, silent, stuck or quarantined."};
// Router: how far drafters guess (common/speculation/tuner.h), by their kind.
inline constexpr MetricName kRouterTuningThreshold{"slipstream_router_tuning_threshold",
                                                   "h: drafters stop where a node is rejected with more than this chance."};
inline constexpr MetricName kRouterTuningDepth{"slipstream_router_tuning_depth",
                                               "Most levels of a tree, as many as come before its deadline."};
inline constexpr MetricName kRouterTuningTheorem{"slipstream_router_tuning_theorem_threshold",
                                                 "The h of SpecDec++'s theorem at the present costs."};
inline constexpr MetricName kRouterTuningVersion{"slipstream_router_tuning_version", "How often h has changed."};
inline constexpr MetricName kRouterTuningReason{"slipstream_router_tuning_reason", "1 for the reason of h, 0 for the others."};
inline constexpr MetricName kRouterTuningPrice{"slipstream_router_tuning_price_tokens",
                                               "Tokens that a node must gain, by what they pay for: verify, draft."};
inline constexpr MetricName kRouterTuningSeconds{"slipstream_router_tuning_seconds",
                                                 "A verify step, a level of a draft, and from an ask to its tree."};
inline constexpr MetricName kRouterTuningWait{"slipstream_router_tuning_wait_ratio",
                                              "Share of a draft job for which steps stand and wait."};
inline constexpr MetricName kRouterTuningLate{"slipstream_router_tuning_late_ratio",
                                              "Share of the asks whose tree was not there in time."};
inline constexpr MetricName kRouterTuningSpeed{"slipstream_router_tuning_tokens_per_second",
                                               "Output tokens of a verifier per second that it is busy."};
inline constexpr MetricName kRouterTuningNodes{"slipstream_router_tuning_nodes", "Verified nodes that decide about h now."};
inline constexpr MetricName kRouterReadings{"slipstream_router_readings_total",
                                            "Scrapes of workers' pages by the tuner, by what came of them."};
inline constexpr MetricName kRouterThresholdChanges{"slipstream_router_threshold_changes_total", "Changes of h, of all kinds."};
inline constexpr MetricName kRouterRetunes{"slipstream_router_retunes_total", "Assigns that changed nothing but thresholds."};
inline constexpr MetricName kRouterPeerFaults{"slipstream_router_peer_faults_total",
                                              "Messages dropped: malformed, of unknown kind, or from a stranger."};

// Verifier: draft nodes. received = the nodes of all fates + held (docs/use/METRICS.md).
inline constexpr MetricName kVerifierNodesReceived{"slipstream_verifier_draft_nodes_received_total",
                                                   "Draft nodes that reached the verifier, by kind of drafter."};
inline constexpr MetricName kVerifierNodes{"slipstream_verifier_draft_nodes_total",
                                           "Draft nodes by kind of drafter and by what became of them."};
inline constexpr MetricName kVerifierNodesHeld{"slipstream_verifier_draft_nodes_held",
                                               "Draft nodes that wait for a step or are in one now."};
inline constexpr MetricName kVerifierAcceptedNodes{"slipstream_verifier_accepted_nodes",
                                                   "Accepted nodes of each verified tree."};
inline constexpr MetricName kVerifierRounds{"slipstream_verifier_rounds_total",
                                            "Rounds that were verified, by kind: draft, plain."};
inline constexpr MetricName kVerifierDraftRounds{
    "slipstream_verifier_draft_rounds_total",
    "Rounds that were verified with a node that a drafter of the kind had guessed, and nobody before it."};
inline constexpr MetricName kVerifierKindNodes{
    "slipstream_verifier_draft_verified_nodes_total",
    "Verified draft nodes, by kind of drafter and by the chance that was predicted."};
inline constexpr MetricName kVerifierKindExpected{"slipstream_verifier_draft_expected_nodes_total",
                                                  "The sum of these nodes' predicted chances."};
inline constexpr MetricName kVerifierKindAccepted{"slipstream_verifier_draft_accepted_nodes_total",
                                                  "Those of them that were accepted."};
inline constexpr MetricName kVerifierDepthNodes{"slipstream_verifier_draft_depth_verified_nodes_total",
                                                "Verified draft nodes, by kind of drafter and by depth."};
inline constexpr MetricName kVerifierDepthExpected{"slipstream_verifier_draft_depth_expected_nodes_total",
                                                   "The sum of these nodes' predicted chances."};
inline constexpr MetricName kVerifierDepthAccepted{"slipstream_verifier_draft_depth_accepted_nodes_total",
                                                   "Those of them that were accepted."};
inline constexpr MetricName kVerifierSurvivalNodes{
    "slipstream_verifier_draft_survival_verified_nodes_total",
    "Verified draft nodes, by kind of drafter and by the survival that the drafter stated."};
inline constexpr MetricName kVerifierSurvivalStated{"slipstream_verifier_draft_survival_stated_nodes_total",
                                                    "The sum of these nodes' stated survivals."};
inline constexpr MetricName kVerifierSurvivalAccepted{"slipstream_verifier_draft_survival_accepted_nodes_total",
                                                      "Those of them that were accepted."};
inline constexpr MetricName kVerifierDraftAnswerSeconds{
    "slipstream_verifier_draft_answer_seconds",
    "From an Advance to its tree, recently: mean of the drafters of the kind; 0 until one came."};
inline constexpr MetricName kVerifierDraftJobSeconds{
    "slipstream_verifier_draft_job_seconds",
    "Of these seconds, those of the draft job, as the drafters say; the rest is transport and queues."};
inline constexpr MetricName kVerifierDrafters{"slipstream_verifier_drafters", "Drafters that are attached, by kind."};
inline constexpr MetricName kVerifierDraftGain{
    "slipstream_verifier_draft_gain_tokens",
    "Tokens that an ask for a tree won lately, less what its rows cost: mean of the drafters of the kind."};
inline constexpr MetricName kVerifierDraftAsks{
    "slipstream_verifier_draft_asks_total", "Rounds by whether a drafter of the kind was asked for a tree, and if not, why."};
inline constexpr MetricName kVerifierNodePrice{"slipstream_verifier_node_price_tokens",
                                               "Tokens that a node must gain to pay for its row, as of the last step."};
inline constexpr MetricName kVerifierMissedDeadlines{"slipstream_verifier_missed_deadlines_total",
                                                     "Rounds whose lead's tree was not there in time."};
inline constexpr MetricName kVerifierMetDeadlines{
    "slipstream_verifier_met_deadlines_total",
    "Rounds whose lead's tree, or the message that there is none, was there in time."};
inline constexpr MetricName kVerifierSampledGivenUp{
    "slipstream_verifier_sampled_rounds_given_up_total",
    "Rounds of the ratio family that went on without the tree they had asked for."};
inline constexpr MetricName kVerifierParkedTrees{
    "slipstream_verifier_parked_trees_total",
    "Trees that came for a longer base than the sequence had, and were kept, by kind of drafter."};
inline constexpr MetricName kVerifierParkedTreesUsed{"slipstream_verifier_parked_trees_used_total",
                                                     "Parked trees whose base a commit reached exactly."};
// Verifier: its start.
inline constexpr MetricName kVerifierLoadSeconds{"slipstream_verifier_load_seconds",
                                                 "What the model's load took, by part: read, pack, trial."};
// Verifier: steps.
inline constexpr MetricName kVerifierStepSeconds{"slipstream_verifier_step_seconds", "One forward pass, sampling included."};
inline constexpr MetricName kVerifierOverheadSeconds{"slipstream_verifier_round_overhead_seconds",
                                                     "A round's time that is not the forward pass: draft wait, loop, wire."};
inline constexpr MetricName kVerifierDraftWaitSeconds{"slipstream_verifier_draft_wait_seconds_total",
                                                      "Time that steps stood ready and waited for drafts, by kind of drafter."};
inline constexpr MetricName kVerifierUnwaitedSteps{
    "slipstream_verifier_unwaited_steps_total",
    "Steps that did not wait for a tree that was due: the wait could not be paid for."};
inline constexpr MetricName kVerifierHeadPasses{"slipstream_verifier_head_passes_total", "Passes of the target's draft head."};
inline constexpr MetricName kVerifierStepRows{"slipstream_verifier_step_rows_total", "Rows computed in all steps."};
inline constexpr MetricName kVerifierStepCostSeconds{
    "slipstream_verifier_step_cost_seconds", "What the cost model expects of a step of this many rows without context."};
inline constexpr MetricName kVerifierStepOverheadSeconds{"slipstream_verifier_step_overhead_seconds",
                                                         "What a step takes beside its forward pass, recently."};
inline constexpr MetricName kVerifierPairCostSeconds{"slipstream_verifier_pair_cost_seconds",
                                                     "Expected seconds for each pair of a row and a position that it sees."};
inline constexpr MetricName kVerifierReadCostSeconds{
    "slipstream_verifier_read_cost_seconds",
    "Expected seconds for each position that a sequence sees, once for all of its rows."};
inline constexpr MetricName kVerifierCostError{"slipstream_verifier_step_cost_error_ratio",
                                               "How far off the cost model was, relative to what it expected."};
inline constexpr MetricName kVerifierAffordableNodes{"slipstream_verifier_affordable_nodes",
                                                     "Nodes of a tree that pay for themselves, by the cost model."};
inline constexpr MetricName kVerifierStepFaults{"slipstream_verifier_step_faults_total",
                                                "Steps that failed; sequences ended by logits that are not finite, by masks "
                                                "that left no token, or by a grammar that cannot "
                                                "be followed."};
// Verifier: sequences and cache.
inline constexpr MetricName kVerifierSequencesStarted{"slipstream_verifier_sequences_started_total", "Sequences taken on."};
inline constexpr MetricName kVerifierSequencesRefused{"slipstream_verifier_sequences_refused_total", "Starts refused."};
inline constexpr MetricName kVerifierSequencesEnded{"slipstream_verifier_sequences_ended_total",
                                                    "Sequences forgotten, by why: delivered, cancelled, lease, replaced."};
inline constexpr MetricName kVerifierSequencesLive{"slipstream_verifier_sequences_live", "Sequences known now."};
inline constexpr MetricName kVerifierSequencesWaiting{"slipstream_verifier_sequences_waiting",
                                                      "Sequences without a cache block now."};
inline constexpr MetricName kVerifierPreempted{"slipstream_verifier_preempted_total",
                                               "Sequences that gave their cache to an older one and are computed again later."};
inline constexpr MetricName kVerifierBlocksFree{"slipstream_verifier_cache_blocks_free", "Cache blocks free now."};
inline constexpr MetricName kVerifierBlocksKept{"slipstream_verifier_prefix_blocks",
                                                "Cache blocks that the prefix cache keeps now, in use or not."};
inline constexpr MetricName kVerifierPrefixTokens{"slipstream_verifier_prefix_tokens_total",
                                                  "Tokens found in the prefix cache and not computed."};
inline constexpr MetricName kVerifierPrefixesEvicted{"slipstream_verifier_prefix_evictions_total",
                                                     "Blocks that the prefix cache gave up because room was needed."};
inline constexpr MetricName kVerifierLookUpTokens{"slipstream_verifier_lookup_tokens",
                                                  "Tokens of earlier answers that the resident look-up has memory for now."};
inline constexpr MetricName kVerifierLookUpForgotten{
    "slipstream_verifier_lookup_tenants_forgotten_total",
    "Tenants whose earlier answers the resident look-up forgot for want of memory."};
inline constexpr MetricName kVerifierPromptTokens{"slipstream_verifier_prompt_tokens_total", "Prompt tokens taken on."};
inline constexpr MetricName kVerifierOutputTokens{"slipstream_verifier_output_tokens_total", "Tokens emitted."};
inline constexpr MetricName kVerifierNearTies{"slipstream_verifier_near_ties_total",
                                              "Tokens emitted that other rows in their step might have turned; 0 where rows "
                                              "do not depend on each other."};
// Verifier: peers.
inline constexpr MetricName kVerifierResyncs{"slipstream_verifier_resyncs_total",
                                             "Resyncs: drafters that said what they hold, and were sent the rest."};
inline constexpr MetricName kVerifierFeaturesSent{"slipstream_verifier_features_sent_total",
                                                  "Features of tokens sent to drafters that run the draft head."};
inline constexpr MetricName kVerifierAttachesRepeated{"slipstream_verifier_attaches_repeated_total",
                                                      "Attaches sent again because a drafter had not answered."};
inline constexpr MetricName kVerifierAttachesWaiting{"slipstream_verifier_attaches_waiting",
                                                     "Drafters that are connected and have not answered an Attach yet."};
inline constexpr MetricName kVerifierPeerFaults{"slipstream_verifier_peer_faults_total",
                                                "Messages dropped, and drafters quarantined for them."};

// Drafter: asks. asks = the answers of all outcomes + the asks in the job that runs or waits.
inline constexpr MetricName kDrafterAsks{"slipstream_drafter_asks_total", "Trees that verifiers asked for."};
inline constexpr MetricName kDrafterAnswers{"slipstream_drafter_answers_total",
                                            "Asks by what became of them: tree, empty (with a reason), overtaken."};
inline constexpr MetricName kDrafterNodes{"slipstream_drafter_nodes_total",
                                          "Nodes drafted, by fate: sent, or discarded because a newer round had come."};
inline constexpr MetricName kDrafterLevelJobs{"slipstream_drafter_level_jobs_total",
                                              "Draft jobs that answered every ask, by the depth of their deepest tree."};
inline constexpr MetricName kDrafterLevels{"slipstream_drafter_levels_total", "The sum of these depths."};
inline constexpr MetricName kDrafterLevelSeconds{"slipstream_drafter_level_seconds_total", "What these jobs took."};
inline constexpr MetricName kDrafterDraftSeconds{"slipstream_drafter_draft_seconds", "One draft job, with all its asks."};
inline constexpr MetricName kDrafterFailedJobs{"slipstream_drafter_failed_jobs_total", "Draft jobs that failed."};
inline constexpr MetricName kDrafterPasses{"slipstream_drafter_passes_total", "Forward passes of the draft model."};
inline constexpr MetricName kDrafterPassRows{"slipstream_drafter_pass_rows_total", "Rows of all those passes."};
inline constexpr MetricName kDrafterPrefixTokens{
    "slipstream_drafter_prefix_tokens_total", "Tokens whose K and V the prefix cache had, and which were not computed again."};
inline constexpr MetricName kDrafterEvictions{
    "slipstream_drafter_evictions_total", "Sequences whose cache went to others; computed again when a draft is asked for."};
inline constexpr MetricName kDrafterLookUpTokens{"slipstream_drafter_lookup_tokens",
                                                 "Tokens of earlier answers that look-up has memory for now."};
inline constexpr MetricName kDrafterLookUpForgotten{"slipstream_drafter_lookup_tenants_forgotten_total",
                                                    "Tenants whose earlier answers look-up forgot for want of memory."};
// Drafter: what it learns of itself.
inline constexpr MetricName kDrafterVerdictCandidates{
    "slipstream_drafter_verdict_candidates_total",
    "Candidates that the draft model proposed and the target's verdicts judged."};
inline constexpr MetricName kDrafterVerdictExpected{"slipstream_drafter_verdict_expected_candidates_total",
                                                    "The sum of these candidates' chances."};
inline constexpr MetricName kDrafterVerdictRight{"slipstream_drafter_verdict_right_candidates_total",
                                                 "Those of them that were the target's choice."};
// Drafter: sequences.
inline constexpr MetricName kDrafterAdvances{"slipstream_drafter_advances_total",
                                             "Advances by outcome: applied, stale, resync, busy, leaving, invalid."};
inline constexpr MetricName kDrafterSequencesBegun{"slipstream_drafter_sequences_begun_total",
                                                   "Sequences begun, or begun again."};
inline constexpr MetricName kDrafterSequencesEnded{
    "slipstream_drafter_sequences_ended_total",
    "Sequences forgotten: released, or freed as idle, orphaned or of another prefix."};
inline constexpr MetricName kDrafterSequencesLive{"slipstream_drafter_sequences_live", "Sequences known now."};
inline constexpr MetricName kDrafterTokensHeld{"slipstream_drafter_tokens_held", "Tokens of all sequences known now."};
// Drafter: peers.
inline constexpr MetricName kDrafterVerifiers{"slipstream_drafter_verifiers", "Verifiers attached whose link is up."};
inline constexpr MetricName kDrafterWelcome{"slipstream_drafter_welcome", "1 when at least one router takes this drafter."};
inline constexpr MetricName kDrafterPeerFaults{"slipstream_drafter_peer_faults_total",
                                               "Messages dropped, refusals, and verifiers quarantined."};
// Every process: the loop and its sockets.
inline constexpr MetricName kNodeStandstill{
    "slipstream_node_standstill_seconds",
    "Seconds since the event loop last turned (of=loop), and for which the present compute job has run (of=job)."};
inline constexpr MetricName kNodeSpans{"slipstream_node_spans_total", "Spans of traces, by outcome: sent, dropped, failed."};
inline constexpr MetricName kNodeEvents{"slipstream_node_events_total", "Events given to the actor."};
inline constexpr MetricName kNodeFrames{"slipstream_node_frames_total", "Frames, by direction: sent, received."};
inline constexpr MetricName kNodeBytes{"slipstream_node_frame_bytes_total", "Bytes of frames, by direction: sent, received."};
inline constexpr MetricName kNodeDropped{
    "slipstream_node_dropped_total",
    "What the loop turned away, by limit or fault: peer_full, peer_gone, inbox_full, envelope, undecodable, misdirected."};
inline constexpr MetricName kNodeConnections{"slipstream_node_connections",
                                             "Open connections of other processes that connected here."};
inline constexpr MetricName kNodeConnectionsCut{
    "slipstream_node_connections_cut_total",
    "Connections of other processes that were cut: held, speechless, too_many, frames, revoked."};
inline constexpr MetricName kNodeHandshakesFailed{
    "slipstream_node_handshakes_failed_total",
    "Connections whose handshake failed, in both directions, by why: key, protocol, unfinished."};
// Every process: its HTTP side.
inline constexpr MetricName kHttpConnections{"slipstream_http_connections", "HTTP connections open now."};
inline constexpr MetricName kHttpRequests{"slipstream_http_requests_total", "HTTP requests read whole."};
inline constexpr MetricName kHttpFaults{"slipstream_http_faults_total",
                                        "HTTP connections and requests turned away or cut, by kind."};
}  // namespace metric

}  // namespace slipstream
