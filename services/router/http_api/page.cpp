#include "services/router/http_api/page.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/endpoint.h"
#include "services/router/http_api/tuning_page.h"
#include "services/router/http_api/workers_page.h"

namespace slipstream {
namespace {

std::string pid_words(uint32_t pid) { return pid > 0 ? fmt::format("pid {}", pid) : "pid not told"; }

std::string refused_table(const RouterCounters& counters) {
  if (counters.workers_refused == 0) return "";
  std::string text = fmt::format("  refused {} times so far", counters.workers_refused);
  text += counters.refused_now->empty() ? ", nobody who is connected now: the log says whom and why\n" : "; now:\n";
  for (const RefusedFacts& refused : *counters.refused_now) {
    text += fmt::format("  {:8} {:016x}  {}  refused: {}\n", role_name(refused.role), refused.incarnation,
                        pid_words(refused.pid), refused.reason);
  }
  if (counters.refused_unnamed > 0) text += fmt::format("  and {} more\n", counters.refused_unnamed);
  return text;
}

// url: of the router, as its client finds it.
std::string workers_table(const RouterCounters& counters, std::string_view url) {
  const std::string_view host = url.substr(std::min(url.find("//") + 2, url.size()));
  const std::string refused = refused_table(counters);
  if (counters.workers->empty()) return "  none yet: start slipstream-verifier with this router's worker address\n" + refused;
  std::string verifiers, drafters;
  for (const WorkerFacts& worker : *counters.workers) {
    const bool verifier = worker.role == Role::verifier;
    (verifier ? verifiers : drafters) +=
        fmt::format("  {:8} {:016x}  {}  {:7}  {:3} sequences  {}{}  {}{}\n", role_name(worker.role), worker.incarnation,
                    pid_words(worker.pid), state_of(worker), verifier ? worker.assigned : worker.sequences, worker.what,
                    verifier ? "" : " at " + worker.draft_endpoint, page_for(worker.metrics_endpoint, host),
                    worker.leaving ? "  leaves: " + worker.why_leaving : "");
    if (worker.greedy_gain)
      drafters += fmt::format("           an ask wins {:.2f} tokens of greedy requests\n", *worker.greedy_gain);
    if (worker.coupled_gain)
      drafters += fmt::format("           an ask wins {:.2f} tokens of sampled ones\n", *worker.coupled_gain);
  }
  return verifiers + drafters + refused;
}

}  // namespace

std::string url_for(std::string_view url, std::string_view host) {
  const size_t begin = std::min(url.find("//") + 2, url.size());
  const auto bound = parse_endpoint(url.substr(begin));
  if (!bound || !bound->every_address()) return std::string(url);
  const bool readable = parse_endpoint(host) || parse_endpoint(std::string(host) + ":80");
  return readable ? std::string(url.substr(0, begin)) + std::string(host) : std::string(url);
}

std::string page_for(std::string_view page, std::string_view host) {
  const size_t begin = std::min(page.find("//") + 2, page.size()), end = std::min(page.find('/', begin), page.size());
  const auto bound = parse_endpoint(page.substr(begin, end - begin));
  if (!bound || !bound->every_address()) return std::string(page);
  auto called = parse_endpoint(host);
  if (!called) called = parse_endpoint(std::string(host) + ":80");
  if (!called) return std::string(page);
  const std::string address = Endpoint{called->host, bound->port}.address();
  return fmt::format("{}{}{}", page.substr(0, begin), address, page.substr(end));
}

std::string state_page(std::string_view self, std::string_view model, std::string_view url, const RouterCounters& counters) {
  const RouterCounters& c = counters;
  const std::string tuning = tuning_table(*c.tuning);
  return fmt::format(
      "Slipstream router {}\n\n"
      "model     {}\n"
      "state     {}\n"
      "requests  {} live, {} waiting, {} answered, {} failed, {} refused, {} given up by their client\n"
      "tokens    {} out, of which {} were drafted\n\n"
      "workers\n{}\n"
      "{}"
      "ask it    {}/ui in a browser\n"
      "links     {}/v1/models  /health  /ready  /metrics  /workers  /tuning\n\n"
      "try it\n"
      "  curl -N {}/v1/chat/completions -H 'content-type: application/json' \\\n"
      "    -d '{{\"messages\": [{{\"role\": \"user\", \"content\": \"Hello!\"}}], \"max_tokens\": 64, \"stream\": true}}'\n",
      self, model, c.verifiers > 0 ? "ready" : "no verifier yet: requests wait", c.live, c.waiting, c.stopped + c.length,
      c.failed + c.waited_too_long, c.refused + c.rejected_full + c.overloaded, c.abandoned, c.output_tokens, c.drafted_tokens,
      workers_table(c, url), tuning.empty() ? "" : "tuning: where drafters stop (h)\n" + tuning + "\n", url, url, url);
}

}  // namespace slipstream
