// A verifier without a model, to measure a router by: it takes any number of sequences and sends
// each of them its next tokens at every beat. Which ones does not matter. Never shipped.
#pragma once

#include <algorithm>
#include <chrono>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "common/actor/actor.h"
#include "common/base/check.h"
#include "common/messages/control.h"
#include "common/messages/generate.h"

namespace slipstream {

struct ToyOptions {
  std::string router;  // its endpoint for workers
  Incarnation self = 0;
  Fingerprint fingerprint;  // the router's
  int32_t context_max = 0;
  Time beat{20'000};  // of every sequence, at the same time; 0: as fast as they are acknowledged
  int32_t tokens_per_message = 1;
  int32_t unacknowledged_max = 64;  // tokens of one sequence
  std::vector<TokenId> says;        // these tokens, again and again
};

class ToyVerifier {
 public:
  using Event = std::variant<Woke, PeerUp, PeerDown, Malformed, From<Welcome>, From<Refuse>, From<RouterHeartbeat>, From<Drain>,
                             From<Start>, From<Ack>, From<Cancel>, From<Assign>, From<Unknown>>;
  using Effect = std::variant<Connect, WakeAt, To<Hello>, To<WorkerHeartbeat>, To<Accepted>, To<Tokens>>;
  struct Counters {
    uint64_t tokens = 0;
  };

  explicit ToyVerifier(ToyOptions options) : options_(std::move(options)) {}

  void on(Event event, Time now, std::vector<Effect>& effects) {
    if (std::holds_alternative<Woke>(event) && !std::exchange(connected_, true)) {
      return effects.push_back(Connect{kRouter, options_.router});
    }
    if (std::holds_alternative<PeerUp>(event)) return say_hello(effects);
    if (auto* refuse = std::get_if<From<Refuse>>(&event)) CHECK(false, "the router refuses: {}", refuse->message.reason);
    if (auto* welcome = std::get_if<From<Welcome>>(&event))
      heartbeat_ = std::chrono::milliseconds(welcome->message.heartbeat_ms);
    if (auto* start = std::get_if<From<Start>>(&event)) begin(std::move(start->message), effects);
    if (auto* ack = std::get_if<From<Ack>>(&event)) take(ack->message);
    if (auto* cancel = std::get_if<From<Cancel>>(&event)) live_.erase(cancel->message.sequence.counter);
    if (heartbeat_ > Time(0)) go_on(now, effects);
  }
  Counters counters() const { return counters_; }

 private:
  struct Live {
    SequenceId sequence;
    Epoch epoch = 0;
    int32_t sent = 0, acknowledged = 0, most = 0;
  };
  static constexpr Peer kRouter{1};
  static constexpr Time kSoon{200};  // without a beat: until it looks again

  void say_hello(std::vector<Effect>& effects) const {
    effects.push_back(To<Hello>{kRouter, Hello{.role = Role::verifier,
                                               .incarnation = options_.self,
                                               .fingerprint = options_.fingerprint,
                                               .numerics_id = "toy",
                                               .methods = {},
                                               .context_max = options_.context_max,
                                               .sequences_max = 1'000'000,
                                               .draft_endpoint = {},
                                               .metrics_endpoint = {}}});
  }
  void begin(Start start, std::vector<Effect>& effects) {
    effects.push_back(To<Accepted>{kRouter, {start.sequence, start.epoch}});
    live_.try_emplace(start.sequence.counter,
                      Live{.sequence = start.sequence, .epoch = start.epoch, .most = start.spec.output_max});
  }
  void take(const Ack& ack) {
    const auto at = live_.find(ack.sequence.counter);
    if (at == live_.end()) return;
    at->second.acknowledged = std::max(at->second.acknowledged, ack.next_index);
    if (ack.finished) live_.erase(at);
  }
  void go_on(Time now, std::vector<Effect>& effects) {
    if (now >= next_heartbeat_) {
      next_heartbeat_ = now + heartbeat_;
      effects.push_back(To<WorkerHeartbeat>{kRouter, {.sequences = static_cast<uint32_t>(live_.size()), .steps = ++steps_}});
    }
    if (now >= next_beat_) {
      next_beat_ = std::max(next_beat_ + options_.beat, now - options_.beat);
      for (auto& [request, live] : live_) speak(live, effects);
    }
    effects.push_back(WakeAt{std::min(next_heartbeat_, std::max(next_beat_, now + kSoon))});
  }
  void speak(Live& live, std::vector<Effect>& effects) {
    const int32_t count = std::min(options_.tokens_per_message, live.most - live.sent);
    if (count <= 0 || live.sent + count - live.acknowledged > options_.unacknowledged_max) return;
    Tokens tokens{.sequence = live.sequence, .epoch = live.epoch, .first_index = live.sent};
    for (int32_t i = 0; i < count; ++i) {
      tokens.ids.push_back(options_.says[static_cast<size_t>(live.sent + i) % options_.says.size()]);
    }
    tokens.drafted.resize(tokens.ids.size());
    tokens.depths.resize(tokens.ids.size());
    live.sent += count;
    tokens.report.steps = static_cast<uint32_t>(live.sent / options_.tokens_per_message);
    if (live.sent == live.most) tokens.finish = Finish::length;
    counters_.tokens += static_cast<uint64_t>(count);
    effects.push_back(To<Tokens>{kRouter, std::move(tokens)});
  }

  const ToyOptions options_;
  bool connected_ = false;
  Time heartbeat_{0}, next_heartbeat_{0}, next_beat_{0};
  uint64_t steps_ = 0;
  std::unordered_map<uint64_t, Live> live_;  // by request
  Counters counters_;
};

}  // namespace slipstream
