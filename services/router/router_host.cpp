#include "services/router/router_host.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "common/base/log.h"
#include "common/metrics/build_info.h"
#include "common/ops_page/health.h"
#include "common/ops_page/loop_metrics.h"
#include "common/ops_page/server_metrics.h"
#include "common/runtime/log_note.h"
#include "common/service/drain.h"
#include "common/service/trace_exporter.h"
#include "services/router/drain.h"
#include "services/router/http_api/paths.h"
#include "services/router/metrics_page.h"
#include "services/router/tuning_metrics.h"
#include "services/router/vllm_metrics.h"

namespace slipstream {

namespace {

constexpr std::chrono::milliseconds kNoJobs{1};  // a router has none, so any limit serves

std::vector<LogField> fields_of(const http::Access& access) {
  std::vector<LogField> fields{{"request_id", access.request_id},
                               {"client", access.client},
                               {"method", access.method},
                               {"path", access.path},
                               {"status", access.status},
                               {"ms", std::chrono::duration_cast<std::chrono::milliseconds>(access.took).count()},
                               {"bytes", static_cast<int64_t>(access.bytes)}};
  if (!access.subject.empty()) fields.emplace_back(kSequenceField, access.subject);
  return fields;
}

// Probes, scrapes and a page that a browser renews come every few seconds, and say nothing while
// they succeed.
void log_access(const http::Access& access) {
  const bool often = is_probe(access.path) || access.path == kPagePath || access.path == kTuningPath ||
                     access.path == kWorkersPath || is_ui(access.path);
  const LogLevel level = often ? LogLevel::debug : LogLevel::info;
  if (log_wants(level)) log_line(level, words_of(access), fields_of(access));
}

}  // namespace

RouterHost::RouterHost(ModelFolder model, Transport& transport, ClientAccess access)
    : access_(std::move(access)),
      tunes_(model.config.tunes),
      prometheus_(std::move(model.prometheus)),
      vllm_model_(model.vllm_metrics ? model.served.offer.name() : ""),
      router_(model.config),
      api_(std::move(model.served), model.config.incarnation, ports()),
      loop_(router_, transport, {}, ToClients{api_}),
      text_(kInboxEventsMax),
      grammars_({.waiting_max = kGrammarsWaitingMax, .of_one_max = kGrammarsOfOneWaitingMax}) {}

// The two threads post to each other: both must have ended before either is destroyed. What the
// server's thread posts afterwards is refused.
RouterHost::~RouterHost() {
  grammars_.close();
  text_.close();
}

// The ports are called from listen() on, when all members are constructed.
HttpApi::Ports RouterHost::ports() {
  return {
      .post =
          [this](HttpApi::ToRouter event) {
            return std::visit([this](auto&& e) { return loop_.post(std::forward<decltype(e)>(e)); }, std::move(event));
          },
      .later = [this](TaskThread::Task chat) { return text_.post(std::move(chat)); },
      // Requests that waited for their grammar: kGrammarsWaitingMax, and the one whose is compiled.
      .go_on = [this](TaskThread::Task chat) { return text_.post_unbounded(std::move(chat)); },
      .compile = [this](GrammarQueue::Turn turn) { return grammars_.post(std::move(turn.run), turn.by, std::move(turn.over)); },
      .counters = [this] { return loop_.counters(); },
      .metrics = [this] { return metrics(); },
      .stuck = [this] { return loop_ended_ ? std::string() : why_stuck(loop_.standstill(), kNoJobs); },
      .refusal = [this](const http::Request& request) { return access_.refusal(request); },
      .admit = [this](const http::Request& request) -> ApiResult<Admitted> {
        return access_.keys ? access_.keys->admit(request) : Admitted();
      }};
}

std::string RouterHost::metrics() const {
  Exposition page;
  add_build_info("router", "", page);
  add_router_metrics(loop_.counters(), page);
  add_tuning_metrics(loop_.counters(), page);
  add_error_metrics(api_.errors(), page);
  if (!vllm_model_.empty()) add_vllm_metrics(loop_.counters(), vllm_model_, page);
  add_loop_metrics(loop_.loop_counters(), loop_.standstill(), page);
  add_trace_metrics(page);
  if (const http::Server* server = listening_) add_server_metrics(server->counters(), page);
  return page.text();
}

Result<void> RouterHost::listen(const Endpoint& at) {
  const auto handle = [this](auto request, auto exchange) { api_.handle(std::move(request), std::move(exchange)); };
  TRY(server_, http::Server::listen(at.host, at.port, handle, HttpApi::error_body,
                                    {.tls = access_.tls, .access_log = log_access, .cors = access_.cors}));
  listening_ = &*server_;
  address_ = Endpoint{at.host, server_->port()}.address();
  api_.listens_at(url());
  return {};
}

std::string RouterHost::url() const { return (access_.tls ? "https://" : "http://") + address_; }

void RouterHost::run(const std::stop_token& stop, std::chrono::milliseconds grace) {
  const auto drained = [this](const Router& router) {
    return api_.door().inside() == 0 && router.counters().live + router.counters().waiting == 0;
  };
  const auto told = [this, grace](const RouterCounters& now) {
    return told_to_stop(now.live + now.waiting + api_.door().inside(), grace);
  };
  const DrainLines<RouterCounters> lines{.told_to_stop = told, .stopped = stopped};
  const auto workers = [this] {
    std::vector<std::string> pages;
    for (const WorkerFacts& worker : *loop_.counters().workers) pages.push_back(worker.metrics_endpoint);
    return pages;
  };
  std::optional<Scraper> scraper;
  if (tunes_) scraper.emplace(prometheus_, workers, [this](Scraped scraped) { loop_.post(std::move(scraped)); });
  // Clients that keep a connection would ask here again and be refused: there are other routers.
  const auto send_away = [this](const Router&) {
    api_.door().close();
    server_->keep_no_connection();
  };
  const auto left = run_until_drained(
      loop_, router_, stop,
      {.drain = Closing{}, .grace = grace, .done = drained, .final_event = Closing{.now = true}, .on_stop = send_away}, lines);
  api_.door().shut();
  loop_ended_ = true;                             // it no longer turns, and is not stuck
  server_->finish(std::max(kDrainLinger, left));  // for clients that read slowly
}

}  // namespace slipstream
