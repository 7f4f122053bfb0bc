#include "tools/slipstream/load/session.h"

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "tools/slipstream/load/stream_reader.h"
#include "tools/slipstream/load/tally.h"

namespace slipstream::command::load {
namespace {

constexpr const char* kPath = "/v1/chat/completions";

Ending ending_of(int status) {
  return status == 429 ? Ending::refused_429 : status == 503 ? Ending::refused_503 : Ending::other_status;
}

// What Retry-After asks for; 0 where it names a date, as OpenAI-style servers do not.
Offset pause_of(std::string_view retry_after) {
  uint32_t seconds = 0;
  const auto [end, error] = std::from_chars(retry_after.data(), retry_after.data() + retry_after.size(), seconds);
  if (error == std::errc::result_out_of_range) return kPauseMax;
  if (error != std::errc() || end != retry_after.data() + retry_after.size()) return Offset(0);
  return std::min(std::chrono::seconds(seconds), kPauseMax);
}

// Says how a request ended that got no answer to its end.
void say_failed(Sample& sample, Ending ending, std::string problem) {
  sample.ending = ending;
  sample.problem = std::move(problem);
}

}  // namespace

Session::Session(const Target& target, const RequestMix& mix, SessionPlan plan, Sink sink)
    : target_(target), mix_(mix), plan_(std::move(plan)), sink_(std::move(sink)), began_(std::chrono::steady_clock::now()) {}

Result<Duration> Session::run(const std::stop_token& stop, const Tick& tick) {
  TRY_VOID(target_.client());  // else each worker would find that its certificates cannot be read
  began_ = std::chrono::steady_clock::now();
  const int first = plan_.arrivals ? 1 : plan_.streams;
  for (int i = 0; i < first; ++i) start_worker(stop);
  std::unique_lock lock(state_mutex_);
  if (workers_.empty()) return fail("no thread can be started; allow more of them (ulimit -u), or ask with fewer --streams");
  do {
    changed_.wait_for(lock, kTick, [&] { return working_ == 0; });
    progress_.elapsed = now();
    progress_.in_flight = calls_.size();
    end_overdue();
    progress_.tokens = tokens_;
    const Progress seen = progress_;
    lock.unlock();
    tick(seen);
    lock.lock();
  } while (working_ > 0);
  lock.unlock();
  workers_.clear();
  return progress_.elapsed;
}

// A thread that the system does not give is no error while there are others: requests then go out
// late, which is counted.
void Session::start_worker(const std::stop_token& stop) {
  std::lock_guard lock(state_mutex_);
  if (workers_.size() >= static_cast<size_t>(plan_.streams)) return;
  try {
    workers_.emplace_back([this, stop] { work(stop); });
    ++working_;
    ++idle_;
  } catch (const std::system_error&) {
    plan_.streams = std::max(1, static_cast<int>(workers_.size()));
  }
}

void Session::work(const std::stop_token& stop) {
  Offset free_at{0};
  for (bool more = true; more;) {
    auto client = target_.client();
    if (!client) break;  // run() has found that it works
    const std::stop_callback cancel(stop, [&] { client->cancel(); });
    more = ask_by(*client, free_at, stop);
  }
  std::lock_guard lock(state_mutex_);
  --working_;
  changed_.notify_all();
}

bool Session::ask_by(http::Client& client, Offset& free_at, const std::stop_token& stop) {
  while (const auto turn = await_turn(free_at, stop)) {
    const Sample sample = ask(client, *turn, stop);
    const Offset pause = std::max<Offset>(kPauseAfterFailure, sample.come_back);
    free_at = sample.ending == Ending::complete ? sample.ended : sample.ended + pause;
    ++idle_;
    record(sample);
    if (sample.ending == Ending::timed_out || client.cancelled()) return true;
  }
  return false;
}

// The client's own limit is on the server's silence, which a server can break for ever without a
// token, as by comments in the stream.
void Session::end_overdue() {
  for (const Call& call : calls_) {
    if (now() > call.latest) call.client->cancel();
  }
}

std::optional<Session::Turn> Session::await_turn(Offset free_at, const std::stop_token& stop) {
  if (plan_.arrivals) return await_arrival(stop);
  std::optional<Turn> turn;
  {
    std::lock_guard lock(turns_mutex_);
    turn = next_turn(free_at);
  }
  if (!turn) return std::nullopt;
  turn->body = mix_.body(turn->number);
  if (!wait_until(turn->scheduled, stop)) return std::nullopt;
  return turn;
}

std::optional<Session::Turn> Session::await_arrival(const std::stop_token& stop) {
  std::lock_guard lock(turns_mutex_);
  if (stop.stop_requested()) return std::nullopt;
  auto turn = next_turn({});
  if (!turn) return std::nullopt;
  turn->body = mix_.body(turn->number);
  if (idle_ <= 1) start_worker(stop);  // it waits for the arrival after this one
  if (!wait_until(turn->scheduled, stop)) return std::nullopt;
  --idle_;
  return turn;
}

std::optional<Session::Turn> Session::next_turn(Offset free_at) {
  if (plan_.requests_max > 0 && turns_ >= plan_.requests_max) return std::nullopt;
  Turn turn{.number = plan_.first_number + turns_, .scheduled = free_at, .body = {}};
  if (plan_.arrivals) {
    const auto at = plan_.arrivals->next();
    if (!at) return std::nullopt;
    turn.scheduled = *at;
  }
  if (plan_.time_max && turn.scheduled >= *plan_.time_max) return std::nullopt;
  ++turns_;
  return turn;
}

bool Session::wait_until(Offset time, const std::stop_token& stop) {
  std::mutex alone;  // nobody but the stop ends the wait
  std::unique_lock lock(alone);
  std::condition_variable_any stopped;
  stopped.wait_until(lock, stop, began_ + time, [] { return false; });
  return !stop.stop_requested();
}

Sample Session::ask(http::Client& client, const Turn& turn, const std::stop_token& stop) {
  Sample sample;
  StreamReader reader(sample, static_cast<size_t>(mix_.max_tokens(turn.number)) + kSpareChunks);
  sample.scheduled = turn.scheduled;
  sample.sent = now();
  const Offset latest = sample.sent + target_.timeout;
  const auto call = [&] {
    std::lock_guard lock(state_mutex_);
    return calls_.insert(calls_.end(), {&client, latest});
  }();
  bool over_time = false;
  const auto reply = client.post_stream(kPath, turn.body, [&](std::string_view data) {
    const Offset at = now();
    over_time = at > latest;
    if (over_time) return false;
    const bool more = reader.event(data, at);
    tokens_ += static_cast<uint64_t>(reader.fresh_tokens());
    return more;
  });
  sample.ended = now();
  {
    std::lock_guard lock(state_mutex_);
    calls_.erase(call);
  }
  if (reply) sample.status = reply->status;
  if (reader.gave_up()) return sample;
  if (over_time || (!reply && sample.ended >= latest)) {
    say_failed(sample, Ending::timed_out,
               fmt::format("no end of the answer within {} ms; allow more with --timeout-s", target_.timeout.count()));
  } else if (!reply && stop.stop_requested()) {
    sample.ending = Ending::cut;
  } else if (!reply) {
    say_failed(sample, reader.begun() ? Ending::broke_off : Ending::no_connection, reply.error().message);
  } else if (reply->status != 200) {
    sample.retry_after = !reply->retry_after.empty();
    sample.come_back = pause_of(reply->retry_after);
    say_failed(sample, ending_of(reply->status), error_message(reply->body, reply->status));
  } else {
    reader.end();
  }
  return sample;
}

void Session::record(const Sample& sample) {
  {
    std::lock_guard lock(state_mutex_);
    ++progress_.ended;
    if (sample.ending == Ending::complete) ++progress_.complete;
    if (sample.sent - sample.scheduled > kLate) ++progress_.late;
  }
  std::lock_guard lock(sink_mutex_);
  sink_(sample);
}

}  // namespace slipstream::command::load
