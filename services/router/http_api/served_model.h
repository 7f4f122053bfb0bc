// What the HTTP side knows of the model that is served.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/ids.h"
#include "common/grammar/grammar.h"
#include "common/text/chat_template.h"
#include "common/text/tokenizer.h"
#include "services/router/http_api/offer.h"

namespace slipstream {

struct ServedModel {
  Offer offer;
  Tokenizer tokenizer;
  ChatTemplate chat_template;
  std::optional<Grammars> grammars;                      // none: nothing ends the model's answers
  int32_t vocabulary = 0;                                // columns of a row of logits
  std::vector<TokenId> eos_ids;                          // end an answer, unless ignore_eos
  int32_t context_max = 0;                               // tokens, of the model; its verifiers may offer less
  uint16_t draft_nodes_max = 0;                          // of the tuning, for reports
  std::chrono::milliseconds grammar_wait_most{120'000};  // a request that has waited longer for its grammar is given up
  bool one_tenant = false;                               // all clients are one; else each API key is a tenant
  std::optional<double> trace_share = {};  // of the requests that come without a trace; nullopt: there are no traces
};

}  // namespace slipstream
