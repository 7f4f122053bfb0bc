// Loads one server for a while, with one thread for each request in flight.
//
// Open loop: requests go out at the times of a schedule. One idle thread waits for the next
// arrival, sends it, and leaves the wait to another idle thread, which is started if there is none.
// Where all threads are busy, the next request goes out late, and its sample says so.
// Closed loop: each of `streams` threads asks again when its answer is done; its next request is
// scheduled for that moment. If it got no answer, it is scheduled for kPauseAfterFailure later, or
// for when the server told it to come back (Retry-After).
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "common/base/result.h"
#include "tools/slipstream/load/histogram.h"
#include "tools/slipstream/load/request_mix.h"
#include "tools/slipstream/load/sample.h"
#include "tools/slipstream/load/schedule.h"
#include "tools/slipstream/load/target.h"

namespace slipstream::command::load {

inline constexpr int kInFlightMax = 1024;                            // requests at once, a thread each
inline constexpr size_t kSpareChunks = 64;                           // that an answer may have beyond its max_tokens
inline constexpr std::chrono::milliseconds kPauseAfterFailure{100};  // closed loop: so that failures do not spin
inline constexpr std::chrono::seconds kPauseMax{3600};               // of what Retry-After asks for
inline constexpr std::chrono::milliseconds kTick{200};               // between two looks at a run

struct SessionPlan {
  std::optional<Schedule> arrivals;  // open loop; nullopt: closed loop
  int streams = 1;                   // closed loop: requests at once; open loop: at most. 1 to kInFlightMax
  size_t requests_max = 0;           // 0: no limit
  std::optional<Duration> time_max;  // no request is scheduled at or after it
  size_t first_number = 0;           // of the mix, of the first request
};

// What a run has done so far.
struct Progress {
  Duration elapsed{0};
  size_t in_flight = 0, ended = 0, complete = 0, late = 0;
  uint64_t tokens = 0;
};

class Session {
 public:
  using Sink = std::function<void(const Sample&)>;    // called by one thread at a time
  using Tick = std::function<void(const Progress&)>;  // called by the thread of run()

  Session(const Target& target, const RequestMix& mix, SessionPlan plan, Sink sink);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Returns when the last answer has ended, with the time that it took. A stop cuts the answers
  // that are under way. Call it once. Error: no thread can be started.
  Result<Duration> run(const std::stop_token& stop, const Tick& tick);

 private:
  struct Turn {
    size_t number = 0;
    Offset scheduled{};
    std::string body;
  };
  // A request under way.
  struct Call {
    http::Client* client;
    Offset latest{};  // when it should have ended
  };

  Offset now() const { return std::chrono::steady_clock::now() - began_; }
  void work(const std::stop_token& stop);
  // Asks until there is no turn left (false), or until a call was ended with its client (true).
  bool ask_by(http::Client& client, Offset& free_at, const std::stop_token& stop);
  std::optional<Turn> await_turn(Offset free_at, const std::stop_token& stop);  // nullopt: there is none left
  std::optional<Turn> await_arrival(const std::stop_token& stop);               // of an open loop
  std::optional<Turn> next_turn(Offset free_at);                                // REQUIRES: turns_mutex_
  bool wait_until(Offset time, const std::stop_token& stop);                    // false: stopped
  void start_worker(const std::stop_token& stop);
  Sample ask(http::Client& client, const Turn& turn, const std::stop_token& stop);
  void end_overdue();  // REQUIRES: state_mutex_
  void record(const Sample& sample);

  const Target& target_;
  const RequestMix& mix_;
  SessionPlan plan_;  // its schedule under turns_mutex_
  const Sink sink_;
  std::chrono::steady_clock::time_point began_;

  std::mutex turns_mutex_;  // of the next turn; an open loop holds it while it waits for an arrival
  size_t turns_ = 0;        // given so far
  std::atomic<int> idle_ = 0;

  std::mutex state_mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::vector<std::jthread> workers_;
  int working_ = 0;  // workers that have not ended
  Progress progress_;
  std::list<Call> calls_;
  std::mutex sink_mutex_;

  std::atomic<uint64_t> tokens_ = 0;
};

}  // namespace slipstream::command::load
