#include "common/service/trace_exporter.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/endpoint.h"
#include "common/base/log.h"
#include "common/http/client.h"

namespace slipstream {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::chrono::minutes kBetweenWarnings{10};  // of a collector that takes nothing

// One exporter lives in a process, and pages outlive it.
struct Counts {
  std::atomic<uint64_t> sent = 0, dropped = 0, failed = 0;
};
Counts& counts() {
  static Counts counts;
  return counts;
}

}  // namespace

struct TraceExporter::Impl {
  Impl(const Endpoint& at, TraceResource who) : resource(std::move(who)), client(at.host, at.port, kTracePostMost) {}

  void add(TimedSpan span) {
    {
      const std::lock_guard lock(mutex);
      if (waiting.size() >= kSpansWaitingMax) {
        ++counts().dropped;
        return;
      }
      waiting.push_back(std::move(span));
      if (waiting.size() < kSpansPerPostMax) return;
    }
    wakes.notify_one();
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::unique_lock lock(mutex);
      wakes.wait_for(lock, stop, kSpansWait, [this] { return waiting.size() >= kSpansPerPostMax; });
      post(lock);
    }
    std::unique_lock lock(mutex);
    const auto end = std::chrono::steady_clock::now() + kTracePostMost;
    while (!waiting.empty() && std::chrono::steady_clock::now() < end) post(lock);
    counts().dropped += waiting.size();
  }

  // The lock is free while the post is under way.
  void post(std::unique_lock<std::mutex>& lock) {
    if (waiting.empty()) return;
    std::vector<TimedSpan> batch;
    while (!waiting.empty() && batch.size() < kSpansPerPostMax) {
      batch.push_back(std::move(waiting.front()));
      waiting.pop_front();
    }
    lock.unlock();
    const auto reply = client.post(kTracesPath, otlp_json(resource, batch));
    const bool taken = reply && reply->status < 300;
    (taken ? counts().sent : counts().failed) += batch.size();
    if (!taken) warn(reply ? fmt::format("status {}", reply->status) : reply.error().message);
    lock.lock();
  }

  void warn(const std::string& why) {
    const auto now = std::chrono::steady_clock::now();
    if (warned && now - *warned < kBetweenWarnings) return;
    warned = now;
    log_warning("the collector of --otlp takes no spans: {}; they are dropped until it does", why);
  }

  const TraceResource resource;
  http::Client client;
  std::optional<std::chrono::steady_clock::time_point> warned;
  std::mutex mutex;
  std::condition_variable_any wakes;
  std::deque<TimedSpan> waiting;  // guarded by mutex
  std::jthread thread;            // last member: it starts when all others exist
};

Result<TraceExporter> TraceExporter::start(const std::string& url, TraceResource resource) {
  if (!url.starts_with(kScheme)) return fail("{} is no address of a collector: write http://HOST:PORT", url);
  TRY(const Endpoint at, parse_endpoint(url.substr(kScheme.size()), Use::connect));
  auto impl = std::make_unique<Impl>(at, std::move(resource));
  impl->thread = std::jthread([own = impl.get()](const std::stop_token& stop) { own->run(stop); });
  set_span_sink([own = impl.get()](TimedSpan span) { own->add(std::move(span)); });
  return TraceExporter(std::move(impl));
}

TraceExporter::TraceExporter(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TraceExporter::TraceExporter(TraceExporter&&) noexcept = default;

TraceExporter::~TraceExporter() {
  if (impl_) set_span_sink({});
}

void add_trace_metrics(Exposition& page) {
  const Counts& counted = counts();
  page.counter(metric::kNodeSpans, static_cast<double>(counted.sent), {{"outcome", "sent"}});
  page.counter(metric::kNodeSpans, static_cast<double>(counted.dropped), {{"outcome", "dropped"}});
  page.counter(metric::kNodeSpans, static_cast<double>(counted.failed), {{"outcome", "failed"}});
}

}  // namespace slipstream
