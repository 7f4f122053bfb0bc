// Every bound of the system, with its unit in the name. A bound that is hit has a counter
// (metrics/names.h) and, where a client meets it, an error that names it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace slipstream {

// Trees. One 64-bit mask holds a node's ancestors; bit 0 is the root.
inline constexpr int kTreeNodesMax = 63;
inline constexpr int kTreeDepthMax = 32;
inline constexpr int kSiblingsMax = 8;                  // candidates a node that a drafter may be told to rank
inline constexpr int kDraftDistributionTokensMax = 64;  // that a sampled node may have come from

// Sequences.
inline constexpr int kContextTokensMax = 32768;  // upper bound on any model's context, prompt and output together
inline constexpr int kStopIdsMax = 32;           // token ids that end a sequence
inline constexpr int kStopStringsMax = 4;        // OpenAI's own limit
inline constexpr int kStopStringBytesMax = 256;
inline constexpr int kDraftersPerSequenceMax = 4;
inline constexpr int kChoicesMax = 8;  // `n` of a request

// What a request may ask to be done to logits (sampling/logits_params.h). All of it fits an Advance
// beside its tokens.
inline constexpr int kLogitBiasMax = 1024;  // tokens
inline constexpr int kAllowedTokensMax = 4096;
inline constexpr int kBadWordsMax = 64;                    // strings
inline constexpr int kBadSequencesMax = 2 * kBadWordsMax;  // of tokens: each word may follow a space or not
inline constexpr int kBadWordTokensMax = 16;

// Messages, in bytes or entries; decoders refuse more.
inline constexpr size_t kDraftFrameBytesMax = 64 * 1024;
inline constexpr size_t kControlFrameBytesMax = 1024 * 1024;  // control and generate: a Start carries a whole prompt
inline constexpr int kAdvanceTokensMax = 4096;                // a longer prompt travels in several Advances
inline constexpr int kTokensPerMessageMax = 4096;
inline constexpr int kTextBytesMax = 1024;  // reasons, names, endpoints
inline constexpr int kMethodsMax = 8;
inline constexpr int kMessageNestingMax = 8;

// Queues.
inline constexpr int kSocketHighWaterMessages = 256;
inline constexpr size_t kInboxEventsMax = 4096;  // HTTP thread -> loop and back
inline constexpr int kRequestsWaitingMax = 256;  // admitted but not yet on a verifier
inline constexpr int kSequencesPerVerifierMax = 64;
inline constexpr int kSequencesPerDrafterMax = 1024;

// Times that a message may ask for.
inline constexpr uint32_t kDeadlineUsMax = 1'000'000;  // waiting longer than a second for a tree helps nobody
inline constexpr uint32_t kLeaseMsMin = 500;           // several heartbeats must fit
inline constexpr uint32_t kLeaseMsMax = 600'000;

// One verify step.
inline constexpr int kStepRowsMax = 256;

// HTTP.
inline constexpr size_t kHttpHeaderBytesMax = 16 * 1024;
inline constexpr size_t kHttpBodyBytesMax = 4 * 1024 * 1024;
inline constexpr int kHttpConnectionsMax = 1024;
inline constexpr int kJsonDepthMax = 32;
inline constexpr size_t kMessagesMax = 1024;      // of a chat
inline constexpr size_t kContentPartsMax = 1024;  // of a message

// Hostile peers.
inline constexpr int kStrikesMax = 3;  // malformed messages before a peer is quarantined
// What one connection may make libzmq hold (zmq/connection_watch.h), in bytes as they came. Beyond,
// it is cut. Frames of no bytes take 32 times as much memory as they took of the wire.
inline constexpr int64_t kUnfinishedBytesMax = kControlFrameBytesMax + 64 * 1024;  // of a message that has not ended
inline constexpr int64_t kHeldBytesMax = 16 * 1024 * 1024;                         // when whole messages come faster than read
inline constexpr int64_t kHeldBytesTotalMax = 32 * 1024 * 1024;                    // of all that connected to one socket
inline constexpr int kConnectionsMax = 1024;                                       // to one socket
inline constexpr int kSpeechlessMs = 5000;          // from a connection's begin to its first message
inline constexpr size_t kFramesPerMessageMax = 64;  // two are right; more is malformed, more than this is an attack
inline constexpr int kOpenFilesMax = 65536;         // asked of the system; the hard limit may be lower

}  // namespace slipstream
