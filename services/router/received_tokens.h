// The tokens that one request has got so far: each once and in order, whatever a verifier repeats
// or the network loses. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/messages/generate.h"
#include "services/router/acceptance_histogram.h"

namespace slipstream {

class ReceivedTokens {
 public:
  // logprobs: each token must come with one.
  explicit ReceivedTokens(int32_t vocabulary, bool logprobs = false) : vocabulary_(vocabulary), logprobs_(logprobs) {}

  enum class Arrival : uint8_t {
    fresh,     // it brings something new: answer with an Ack
    repeated,  // all of it is here already: Ack again
    gap,       // it begins after next_index() and is not taken: an Ack with next_index() asks for the rest
    invalid,   // it breaks the protocol and is not taken
  };
  struct Taken {
    Arrival arrival = Arrival::repeated;
    std::vector<TokenId> ids;            // only what is new
    std::vector<uint8_t> drafted;        // [ids]
    std::vector<uint8_t> depths;         // [ids]
    std::vector<TokenLogprob> logprobs;  // [ids] if they were asked for
    Finish finish = Finish::none;
    int32_t repeated = 0;  // tokens that were here already
  };
  // Takes what is new. output_max: tokens after the prompt. REQUIRES: sequence and epoch are
  // current.
  Taken take(const Tokens& tokens, int32_t output_max);

  void begin_epoch();  // another verifier takes over: its report begins at zero
  int32_t next_index() const { return static_cast<int32_t>(emitted_.size()); }
  std::span<const TokenId> emitted() const { return emitted_; }
  SpeculationReport report() const;  // all epochs together
  const AcceptanceHistogram& histogram() const { return histogram_; }

 private:
  int32_t vocabulary_;
  bool logprobs_;
  std::vector<TokenId> emitted_;
  SpeculationReport before_;  // finished epochs, without the draft nodes that their verifiers held when they ended
  SpeculationReport current_;
  AcceptanceHistogram histogram_;
};

}  // namespace slipstream
