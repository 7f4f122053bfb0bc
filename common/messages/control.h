// Boundary `control`: worker (verifier or drafter) <-> router.
#pragma once

#include <variant>

#include "common/messages/common.h"

namespace slipstream {

enum class Role : uint8_t { verifier, drafter };

// worker -> router
struct Hello {
  VersionRange versions;
  Role role = Role::verifier;
  Incarnation incarnation = 0;
  Fingerprint fingerprint;
  std::string numerics_id;           // device, instruction path, weight format, kernel version
  std::vector<std::string> methods;  // drafter: what it drafts with
  int32_t context_max = 0;           // verifier: prompt and output together, tokens
  int32_t sequences_max = 0;
  std::string draft_endpoint;    // drafter: where verifiers connect
  std::string metrics_endpoint;  // http://host:port/metrics
  uint32_t pid = 0;              // on its machine, for people; 0: not told
  std::string draft_model = {};  // drafter: the name of its model (fingerprint.weights), for people; empty: it has none
  bool operator==(const Hello&) const = default;
};
struct WorkerHeartbeat {
  uint32_t sequences = 0;  // live now
  uint32_t waiting = 0;    // live, without a free row or block
  uint64_t steps = 0;      // finished compute jobs: progress, not liveness
  float busy = 0.0F;       // share of the last period spent computing, [0, 1]
  bool operator==(const WorkerHeartbeat&) const = default;
};
struct Leaving {  // "take nothing more from me"
  std::string reason;
  bool operator==(const Leaving&) const = default;
};

// router -> worker
struct Welcome {
  uint16_t version = kProtocolVersion;  // spoken from here on
  Incarnation router = 0;
  uint32_t heartbeat_ms = 0;  // send a WorkerHeartbeat this often
  bool operator==(const Welcome&) const = default;
};
struct Refuse {
  std::string reason;  // a sentence with the next step
  bool operator==(const Refuse&) const = default;
};
struct RouterHeartbeat {  // renews the leases of this router's sequences
  Incarnation router = 0;
  bool operator==(const RouterHeartbeat&) const = default;
};
struct Drain {
  std::string reason;
  bool operator==(const Drain&) const = default;
};

struct Unknown {  // a union tag of a newer version: ignored and counted
  uint16_t tag = 0;
  bool operator==(const Unknown&) const = default;
};

using ControlMessage = std::variant<Hello, WorkerHeartbeat, Leaving, Welcome, Refuse, RouterHeartbeat, Drain, Unknown>;

}  // namespace slipstream
