// The bounds of the system. Names of sizes and durations contain the unit (tokens, bytes, Us, Ms);
// the others are counts.
//
// Reaching a bound is counted by a metric (metrics/names.h). If a client caused it, the client gets
// an error that states the bound.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slipstream {

// Draft trees. A node's ancestors are one 64-bit mask whose bit 0 is the root, hence 63 nodes.
inline constexpr int kTreeNodesMax = 63;
inline constexpr int kTreeDepthMax = 32;
inline constexpr int kSiblingsMax = 8;                  // children of one node
inline constexpr int kDraftDistributionTokensMax = 64;  // tokens that a draft distribution gives weight to

// Sequences.
inline constexpr int kContextTokensMax = 131072;  // upper bound on any model's context, prompt and output together
inline constexpr int kStopIdsMax = 32;            // token ids that end a sequence
inline constexpr size_t kStopIdsAskedMax = 16;    // of them, those that a request names
inline constexpr size_t kStopStringBytesMax = 256;
inline constexpr size_t kStopBytesMax = 16 * 1024;   // all stop strings of a request together
inline constexpr double kDefaultTopPMin = 1e-6;      // of an operator's or a model's default: 0 would keep no token
inline constexpr double kDefaultMinPMax = 1 - 1e-6;  // so would 1
inline constexpr int kDraftersPerSequenceMax = 4;
inline constexpr int kDrafterGainsMax = 128;     // of a heartbeat: two of each drafter that a verifier has a link to
inline constexpr int kChoicesMax = 8;            // of one prompt: the field `n` of a request
inline constexpr size_t kJsonKeysMax = 256;      // of an object that a template or a tool gets: looking one up is linear
inline constexpr size_t kToolsMax = 128;         // of one request, as OpenAI's API has it
inline constexpr size_t kToolNameBytesMax = 64;  // so has it
inline constexpr size_t kPromptsMax = 32;        // of one request to /v1/completions
// Logprobs of a request's prompts: tokens times (1 + alternatives), of all prompts and choices
// together. The router writes them at once on its loop, so they do not grow with the context: a
// prompt of half as many tokens fits with one alternative.
inline constexpr int64_t kPromptLogprobsMax = 65536;

// LogitsParams of one request (sampling/logits_params.h). At these limits they still fit into an
// Advance beside kAdvanceTokensMax tokens.
inline constexpr int kLogitBiasMax = 1024;  // entries, one a token
inline constexpr int kAllowedTokensMax = 4096;
inline constexpr int kBadWordsMax = 64;                    // strings in the request
inline constexpr int kBadSequencesMax = 2 * kBadWordsMax;  // token sequences: one for the word, one for the word after a space
inline constexpr int kBadWordTokensMax = 16;
inline constexpr size_t kGrammarBytesMax = 64 * 1024;      // of a request's grammar, as the verifier gets it
inline constexpr size_t kGrammarRulesBytesMax = 8 * 1024;  // of a regex or rules: compiling some takes time by their square
inline constexpr size_t kGuidedChoicesMax = 1024;          // texts of `guided_choice`

// Messages. A decoder refuses a message that is over one of these.
inline constexpr size_t kDraftFrameBytesMax = 64 * 1024;
inline constexpr size_t kControlFrameBytesMax = 1024 * 1024;  // boundaries control and generate: a Start holds a whole prompt
inline constexpr int kAdvanceTokensMax = 4096;                // a longer prompt is sent in several Advances
inline constexpr int kAdvanceFeaturesMax = 22 * 1024;  // numbers of their features, of two bytes each: these fit beside them
inline constexpr int kTokensPerMessageMax = 4096;
inline constexpr int kPromptTokensPerMessageMax =
    256;                                    // scored ones (sequences that score a prompt at once: see send_window.h)
inline constexpr int kTextBytesMax = 1024;  // reasons, names, endpoints
inline constexpr int kMethodsMax = 8;
inline constexpr int kMessageNestingMax = 8;
// Draft trees that a request asks to be told of (messages/tree_report.h).
inline constexpr int kTreeReportsMax = 64;                           // of one choice's last rounds
inline constexpr int kTreesToldMax = kTreeReportsMax * kChoicesMax;  // of all choices and prompts of a request: 3 MB of text
inline constexpr int kProposersMax = 8;                              // of one tree
inline constexpr size_t kProposerBytesMax = 64;                      // of a method's or model's name; longer ones are cut
inline constexpr size_t kTreeReportBytesMax = 2560;                  // on the wire

// Queues.
inline constexpr int kSocketHighWaterMessages = 1024;
inline constexpr size_t kInboxEventsMax = 4096;          // between the HTTP thread and the router's loop, each way
inline constexpr size_t kGrammarsWaitingMax = 1024;      // requests of a router whose grammar is to be compiled
inline constexpr size_t kGrammarsOfOneWaitingMax = 256;  // of them, those of one API key
inline constexpr int kRequestsWaitingMax = 256;          // admitted by the router, not yet assigned to a verifier
inline constexpr int kSequencesPerVerifierMax = 256;     // at once
inline constexpr int kSequencesPerDrafterMax = 1024;
inline constexpr size_t kRouterLinksMax = 64;  // of one worker

// Durations in messages.
inline constexpr uint32_t kDeadlineUsMax = 1'000'000;  // no tree saves as much time as a longer wait costs
inline constexpr uint32_t kLeaseMsMin = 500;           // several heartbeats, so that one that is lost does not end a lease
inline constexpr uint32_t kLeaseMsMax = 600'000;

// One step. A device says how many rows and sequences it takes (Device::step_rows(), sequences()):
// on a CPU each row beyond some costs as much as the one before, and a longer step is only a longer
// wait; a GPU computes hundreds in little more time than one.
inline constexpr int kStepRowsMax = 1024;  // of any device
inline constexpr int kCpuStepRows = 256;
inline constexpr int kCpuSequences = 64;

// HTTP.
inline constexpr size_t kHttpHeaderBytesMax = 16 * 1024;
inline constexpr size_t kHttpBodyBytesMax = 4 * 1024 * 1024;
inline constexpr int kHttpConnectionsMax = 16 * 1024;
inline constexpr size_t kHttpReceivingBytesMax = 256 * 1024 * 1024;  // of bodies that have not arrived whole, all together
inline constexpr int kJsonDepthMax = 32;
inline constexpr size_t kApiKeysMax = 4096;     // of one file
inline constexpr size_t kApiKeyBytesMax = 512;  // of one key
inline constexpr size_t kApiKeyFileBytesMax = 4 * 1024 * 1024;
inline constexpr size_t kMessagesMax = 1024;      // of one chat request
inline constexpr size_t kContentPartsMax = 1024;  // of one chat message

// Hostile or broken peers.
inline constexpr int kStrikesMax = 3;  // malformed messages before a peer is quarantined
// Bytes on the wire that libzmq may hold for a connection before the connection is cut
// (zmq/connection_watch.h). An empty frame takes 32 times as much memory as it took on the wire.
inline constexpr int64_t kUnfinishedBytesMax = kControlFrameBytesMax + 64 * 1024;  // in a message whose end has not arrived
inline constexpr int64_t kHeldBytesMax = 16 * 1024 * 1024;                         // in whole messages that were not read yet
inline constexpr int64_t kHeldBytesTotalMax = 32 * 1024 * 1024;                    // for all connections to one socket together
inline constexpr int kConnectionsMax = 2048;                                       // connections to one socket
inline constexpr int kSpeechlessMs = 5000;          // a connection must send a well-formed message within this time
inline constexpr size_t kFramesPerMessageMax = 64;  // two are right, more are malformed; beyond this the connection is cut
inline constexpr int kOpenFilesMax = 65536;         // asked of the system, whose hard limit may be lower

}  // namespace slipstream
