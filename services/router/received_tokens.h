// What one request has got so far: the logprobs of its prompt's tokens if it wants them, then the
// tokens of its output. Each comes once and in order, whatever a verifier repeats or the network
// loses. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "common/messages/generate.h"
#include "services/router/acceptance_histogram.h"

namespace slipstream {

class ReceivedTokens {
 public:
  // logprobs: each token must come with one. scored: tokens of the prompt whose logprobs must come.
  // trees: most reports of trees in a message.
  explicit ReceivedTokens(int32_t vocabulary, bool logprobs = false, int32_t scored = 0, int32_t trees = 0)
      : vocabulary_(vocabulary), logprobs_(logprobs), scored_(scored), trees_(trees), unscored_(scored) {}

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
    std::vector<TokenLogprob> prompt_logprobs;
    std::vector<TreeReport> trees;  // of the rounds whose first token is among the ids
    Finish finish = Finish::none;
    int32_t repeated = 0;  // tokens that were here already
    bool empty() const { return ids.empty() && prompt_logprobs.empty(); }
  };
  // Takes what is new. output_max: tokens after the prompt. REQUIRES: sequence and epoch are
  // current.
  Taken take(const Tokens& tokens, int32_t output_max);

  void begin_epoch();  // another verifier takes over: its report begins at zero
  // As Tokens counts (messages/generate.h): below 0 while logprobs of the prompt are missing.
  int32_t next_index() const { return unscored_ > 0 ? -unscored_ : static_cast<int32_t>(emitted_.size()); }
  int32_t unscored() const { return unscored_; }  // tokens at the prompt's end whose logprobs are missing
  bool any() const { return unscored_ < scored_ || !emitted_.empty(); }
  std::span<const TokenId> emitted() const { return emitted_; }
  SpeculationReport report() const;  // all epochs together
  const AcceptanceHistogram& histogram() const { return histogram_; }

 private:
  bool possible(const Tokens& tokens, int32_t output_max) const;
  void take_prompt(const Tokens& tokens, size_t skip, Taken& taken);
  void take_output(const Tokens& tokens, size_t skip, Taken& taken);
  bool begins_anew(const SpeculationReport& report, const Taken& taken) const;
  void add_current();

  int32_t vocabulary_;
  bool logprobs_;
  int32_t scored_, trees_, unscored_;
  std::vector<TokenId> emitted_;
  SpeculationReport before_;  // ended sequences, without the draft nodes that their verifiers held then
  SpeculationReport current_;
  AcceptanceHistogram histogram_;
};

}  // namespace slipstream
