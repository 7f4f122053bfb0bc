// One client: asks once, takes what comes, and knows what must come: the tokens of a plain run,
// each once, in order, an end, and nothing after it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/sim/scenario.h"

namespace slipstream::sim {

class Client {
 public:
  // distributions: of the verifiers that there are; an answer follows one of them from its first
  // token to its last.
  Client(const Ask& ask, RequestId id, std::span<const ToyDistribution> distributions);

  enum class State : uint8_t { not_asked, asked, answered, failed, abandoned, cut_off };

  Submit submit(Time now);  // asks
  Abandon abandon();        // goes away
  void cut_off();           // its router died
  void take(const Delivery& delivery, Time now);
  void take(const Failure& failure);

  State state() const { return state_; }
  std::string end() const;  // in words, once it has ended
  bool ended() const { return state_ != State::asked && state_ != State::not_asked; }
  const Failure& failure() const { return failure_; }
  const std::optional<std::string>& complaint() const { return complaint_; }  // what must not be, the first of it
  size_t tokens() const { return tokens_.size(); }
  Time longest_pause() const { return longest_pause_; }                                   // between two deliveries
  Time pause(Time now) const { return state_ == State::asked ? now - heard_ : Time(0); }  // since it heard last

 private:
  struct Truth {
    ToyOracle oracle;
    std::vector<TokenId> tokens;  // as far as it was asked
  };
  bool follows(Truth& truth) const;
  void complain(std::string what) {
    if (!complaint_) complaint_ = std::move(what);
  }

  Ask ask_;
  RequestId id_;
  int32_t output_max_;
  std::vector<Truth> truths_;
  std::vector<TokenId> tokens_;
  size_t drafted_ = 0;  // of tokens_
  State state_ = State::not_asked;
  Time heard_{};
  Time longest_pause_{};
  Failure failure_;
  std::optional<std::string> complaint_;
};

}  // namespace slipstream::sim
