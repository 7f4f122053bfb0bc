#include "tools/slipstream/load/request_log.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace slipstream::command::load {
namespace {

using Json = nlohmann::ordered_json;

double seconds(Offset time) { return std::chrono::duration<double>(time).count(); }
Json milliseconds(Offset time) { return std::chrono::duration<double, std::milli>(time).count(); }
Json or_null(const std::optional<int>& number) { return number ? Json(*number) : Json(); }

// The longest time in which no text came, the wait for the first included.
Offset longest_pause(const Sample& sample) {
  Offset last = sample.scheduled, longest{0};
  for (const Chunk& chunk : sample.chunks) longest = std::max(longest, chunk.at - std::exchange(last, chunk.at));
  return std::max(longest, sample.ended - last);
}

}  // namespace

std::string request_line(const std::string& run, const Sample& sample, std::chrono::system_clock::time_point now) {
  const bool begun = !sample.chunks.empty();
  const Json line{{"run", run},
                  {"ended_at", std::chrono::duration<double>(now.time_since_epoch()).count()},
                  {"ending", key(sample.ending)},
                  {"status", sample.status},
                  {"scheduled_s", seconds(sample.scheduled)},
                  {"sent_s", seconds(sample.sent)},
                  {"ended_s", seconds(sample.ended)},
                  {"ttft_ms", begun ? milliseconds(sample.chunks.front().at - sample.scheduled) : Json()},
                  {"pause_ms", milliseconds(longest_pause(sample))},
                  {"tokens_in", or_null(sample.tokens_in)},
                  {"tokens_out", sample.output_tokens()},
                  {"problem", sample.problem}};
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<RequestLog> RequestLog::open(std::filesystem::path file) {
  RequestLog log(std::move(file));
  if (log.path_.empty()) return log;
  log.stream_.open(log.path_, std::ios::binary | std::ios::trunc);
  if (!log.stream_) return fail("cannot write {}; name another file", log.path_.string());
  return log;
}

// Whoever follows the file sees a request as soon as it has ended.
void RequestLog::add(const std::string& run, const Sample& sample) {
  if (!path_.empty()) stream_ << request_line(run, sample, std::chrono::system_clock::now()) + "\n" << std::flush;
}

Result<void> RequestLog::close() {
  if (path_.empty()) return {};
  stream_.close();
  if (!stream_) return fail("not every request is in {}: it could not be written", path_.string());
  return {};
}

}  // namespace slipstream::command::load
