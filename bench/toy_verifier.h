// A verifier without a model, to measure a router by: it takes any number of sequences and sends
// each of them its next tokens at every beat, beginning when it began. Which tokens does not
// matter. Never shipped.
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
#include "common/base/limits.h"
#include "common/messages/control.h"
#include "common/messages/generate.h"

namespace slipstream {

struct ToyOptions {
  std::string router;  // its endpoint for workers
  Incarnation self = 0;
  Fingerprint fingerprint;  // the router's
  int32_t context_max = 0;
  Time beat{20'000};  // of a sequence; 0: as fast as they are acknowledged
  int32_t tokens_per_message = 1;
  // Messages of all sequences together: a socket drops what is over its mark.
  int32_t unacknowledged_max = kSocketHighWaterMessages / 2;
  std::vector<TokenId> says;  // these tokens, again and again
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
    if (auto* start = std::get_if<From<Start>>(&event)) begin(start->message, now, effects);
    if (auto* ack = std::get_if<From<Ack>>(&event)) take(ack->message, now);
    if (auto* cancel = std::get_if<From<Cancel>>(&event)) end(live_.find(cancel->message.sequence.counter));
    if (heartbeat_ > Time(0)) go_on(now, effects);
  }
  Counters counters() const { return counters_; }

 private:
  struct Live {
    SequenceId sequence;
    Epoch epoch = 0;
    int32_t sent = 0, acknowledged = 0, most = 0;
    Time next{0}, newest{0};  // its next beat; the newest Ack or message
  };
  using Lives = std::unordered_map<uint64_t, Live>;
  static constexpr Peer kRouter{1};
  static constexpr Time kSoon{500};        // until it looks again at which beats are due
  static constexpr Time kLost{1'000'000};  // without an Ack: sent again

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
  void begin(const Start& start, Time now, std::vector<Effect>& effects) {
    effects.push_back(To<Accepted>{kRouter, {start.sequence, start.epoch}});
    const Live live{.sequence = start.sequence, .epoch = start.epoch, .most = start.spec.output_max, .next = now};
    live_.try_emplace(start.sequence.counter, live);
  }
  void take(const Ack& ack, Time now) {
    const auto at = live_.find(ack.sequence.counter);
    if (at == live_.end()) return;
    if (ack.finished) return end(at);
    acknowledge(at->second, ack.next_index);
    at->second.newest = now;
  }
  void acknowledge(Live& live, int32_t next_index) {
    const int32_t next = std::clamp(next_index, live.acknowledged, live.sent);
    unacknowledged_ -= next - std::exchange(live.acknowledged, next);
  }
  void end(Lives::iterator at) {
    if (at == live_.end()) return;
    acknowledge(at->second, at->second.sent);
    live_.erase(at);
  }
  void go_on(Time now, std::vector<Effect>& effects) {
    if (now >= next_heartbeat_) {
      next_heartbeat_ = now + heartbeat_;
      effects.push_back(To<WorkerHeartbeat>{kRouter, {.sequences = static_cast<uint32_t>(live_.size()), .steps = ++steps_}});
    }
    for (auto& [request, live] : live_) {
      if (now >= live.next) speak(live, now, effects);
    }
    effects.push_back(WakeAt{now + kSoon});
  }
  void speak(Live& live, Time now, std::vector<Effect>& effects) {
    if (live.sent > live.acknowledged && now - live.newest > kLost) {  // go back, and say it again
      unacknowledged_ -= live.sent - live.acknowledged;
      live.sent = live.acknowledged;
    }
    const int32_t count = std::min(options_.tokens_per_message, live.most - live.sent);
    if (count <= 0 || unacknowledged_ + count > options_.unacknowledged_max * options_.tokens_per_message) return;
    live.next = std::max(live.next + options_.beat, now - options_.beat);
    live.newest = now;
    Tokens tokens{.sequence = live.sequence, .epoch = live.epoch, .first_index = live.sent};
    for (int32_t i = 0; i < count; ++i) {
      tokens.ids.push_back(options_.says[static_cast<size_t>(live.sent + i) % options_.says.size()]);
    }
    tokens.drafted.resize(tokens.ids.size());
    tokens.depths.resize(tokens.ids.size());
    live.sent += count;
    unacknowledged_ += count;
    tokens.report.steps = static_cast<uint32_t>(live.sent / options_.tokens_per_message);
    if (live.sent == live.most) tokens.finish = Finish::length;
    counters_.tokens += static_cast<uint64_t>(count);
    effects.push_back(To<Tokens>{kRouter, std::move(tokens)});
  }

  const ToyOptions options_;
  bool connected_ = false;
  Time heartbeat_{0}, next_heartbeat_{0};
  uint64_t steps_ = 0;
  Lives live_;                  // by the sequence's counter
  int32_t unacknowledged_ = 0;  // tokens of all
  Counters counters_;
};

}  // namespace slipstream
