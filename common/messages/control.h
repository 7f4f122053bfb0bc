// Messages of the boundary `control`, between a worker (verifier or drafter) and a router. Ranges
// and repetition: docs/design/WIRE.md, section 4.
#pragma once

#include <variant>

#include "common/messages/common.h"

namespace slipstream {

enum class Role : uint8_t { verifier, drafter };

// From worker to router.

// Introduces the worker. It is repeated until the router answers Welcome.
struct Hello {
  VersionRange versions;
  Role role = Role::verifier;
  Incarnation incarnation = 0;
  Fingerprint fingerprint;
  std::string numerics_id;           // device, instruction path, weight format, kernel version
  std::vector<std::string> methods;  // drafter: names of its draft methods
  int32_t context_max = 0;           // verifier: tokens of one sequence, prompt and output together
  int32_t sequences_max = 0;         // live at the same time
  std::string draft_endpoint;        // drafter: the endpoint that verifiers connect to
  std::string metrics_endpoint;      // http://host:port/metrics
  uint32_t pid = 0;                  // shown to people; 0: not told
  std::string draft_model = {};      // drafter: the name of its model, shown to people; empty: it has none
  bool scores_prompts = false;       // verifier: it tells the logprobs of a prompt; one of an older release does not
  bool samples_trees = false;        // verifier: its own draft head does, for rules of the ratio family
  bool rows_vary = false;            // verifier: a row's bits depend on the other rows of its step, so near-ties may flip
  bool operator==(const Hello&) const = default;
};
// What asking one drafter for a tree wins, as one verifier has seen.
struct DrafterGain {
  Incarnation drafter = 0;
  bool greedy = false;  // of greedy requests; else of coupled ones
  float tokens = 0;     // an ask, less what the rows of its tree cost
  bool operator==(const DrafterGain&) const = default;
};
// Shows that the worker is alive, how much it has to do, and that it makes progress.
struct WorkerHeartbeat {
  uint32_t sequences = 0;  // live
  uint32_t waiting = 0;    // of the live ones: without a free row or cache block
  uint64_t steps = 0;      // compute jobs that have ended; a verifier that has sequences but ends no job is stuck
  float busy = 0.0F;       // [0, 1] share of its time that it computed
  std::vector<DrafterGain> drafter_gains = {};  // verifier: of the drafters that it has asked often enough to know
  bool operator==(const WorkerHeartbeat&) const = default;
};
// The worker is about to stop: the router assigns nothing more to it.
struct Leaving {
  std::string reason;
  bool operator==(const Leaving&) const = default;
};

// From router to worker.

// Accepts a Hello.
struct Welcome {
  uint16_t version = kProtocolVersion;  // of all later messages
  Incarnation router = 0;
  uint32_t heartbeat_ms = 0;  // the worker sends a WorkerHeartbeat at this interval
  bool operator==(const Welcome&) const = default;
};
// Refuses a Hello, or a heartbeat of a worker that this router does not know.
struct Refuse {
  std::string reason;  // a sentence that says what to do
  bool operator==(const Refuse&) const = default;
};
// Renews the leases of this router's sequences on a verifier.
struct RouterHeartbeat {
  Incarnation router = 0;
  bool operator==(const RouterHeartbeat&) const = default;
};
// Tells the worker to take no new sequence and to leave.
struct Drain {
  std::string reason;
  bool operator==(const Drain&) const = default;
};

// A received message whose union tag this release does not know. It is counted and ignored. No
// process sends one.
struct Unknown {
  uint16_t tag = 0;
  bool operator==(const Unknown&) const = default;
};

using ControlMessage = std::variant<Hello, WorkerHeartbeat, Leaving, Welcome, Refuse, RouterHeartbeat, Drain, Unknown>;

}  // namespace slipstream
