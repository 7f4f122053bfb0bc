// One client: sends one request and checks what arrives. It must receive the tokens of a plain run,
// each once and in order, then an end, and nothing after it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/sim/scenario.h"

namespace slipstream::sim {

class Client {
 public:
  // distributions: one for each numerics among the verifiers. An answer must follow one of them
  // from its first token to its last.
  Client(const Ask& ask, RequestId id, std::span<const ToyDistribution> distributions);

  enum class State : uint8_t { not_asked, asked, answered, failed, abandoned, cut_off, not_needed };

  Submit submit(Time now);  // sends the request
  Abandon abandon();        // the client goes away
  void cut_off();           // the router died
  void never_ask() { state_ = State::not_needed; }
  void take(const Delivery& delivery, Time now);
  void take(const Failure& failure);

  State state() const { return state_; }
  std::string end() const;  // in words: how it ended, or that it goes on
  bool ended() const { return state_ != State::asked && state_ != State::not_asked; }
  const Failure& failure() const { return failure_; }
  const std::optional<std::string>& complaint() const { return complaint_; }  // the first violation; none: all is well
  size_t tokens() const { return tokens_.size(); }
  const std::vector<Time>& token_times() const { return token_times_; }  // [tokens()] when each came
  size_t drafted() const { return drafted_; }                            // those of the tokens that were drafted
  size_t trees() const { return trees_; }                                // told
  std::optional<Time> first_token() const { return first_token_; }       // after the request
  Time heard() const { return heard_; }                                  // the newest delivery
  Time longest_pause() const { return longest_pause_; }                  // between two deliveries
  Time pause(Time now) const { return state_ == State::asked ? now - heard_ : Time(0); }  // since the last delivery

 private:
  struct Truth {
    ToyOracle oracle;
    std::vector<TokenId> tokens;  // of the plain run, computed as far as needed
    std::vector<float> scores;    // logprobs of the prompt's tokens, from the second on
  };
  bool follows(Truth& truth) const;
  bool takes(const TreeReport& tree, size_t told);
  void complain(std::string what) {
    if (!complaint_) complaint_ = std::move(what);
  }

  Ask ask_;
  RequestId id_;
  int32_t output_max_;
  std::vector<Truth> truths_;
  std::vector<TokenId> tokens_;
  std::vector<Time> token_times_;
  std::vector<float> scores_;  // of the prompt, that came
  size_t drafted_ = 0;         // those of tokens_ that were drafted
  size_t trees_ = 0;           // told
  int32_t newest_tree_ = -1;   // the first token of the newest round whose tree was told
  State state_ = State::not_asked;
  Time asked_{}, heard_{};
  std::optional<Time> first_token_;
  Time longest_pause_{};
  Failure failure_;
  std::optional<std::string> complaint_;
};

}  // namespace slipstream::sim
