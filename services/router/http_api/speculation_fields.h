// {"speculation": {...}} of a request: whether, by whom and how drafts may speed it up.
#pragma once

#include <string>
#include <vector>

#include "common/messages/common.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {

// What one request asks for; Submit carries it to the actor.
struct Speculation {
  bool enabled = true;
  Acceptance acceptance{.rule = Rule::coupled};
  uint16_t nodes_max = kTreeNodesMax;  // drafted nodes a round, and no more than the operator's
  uint16_t depth_max = kTreeDepthMax;
  std::string drafter;  // method; empty: any
};

// allowed: the names of the rules that the operator lets clients choose (messages/rules.h). Errors name the field.
ApiResult<Speculation> read_speculation(const RequestFields& body, const std::vector<std::string>& allowed);

}  // namespace slipstream
