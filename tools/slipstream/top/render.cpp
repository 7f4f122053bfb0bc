#include "tools/slipstream/top/render.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "tools/slipstream/document.h"

namespace slipstream::command::top {
namespace {

constexpr int kBarColumns = 10, kWideBarColumns = 24;
constexpr size_t kWhatLetters = 48;  // of a worker's own words
constexpr std::string_view kUnknown = "-";
constexpr std::string_view kBold = "\x1b[1m", kDim = "\x1b[2m", kRed = "\x1b[31m", kReset = "\x1b[0m";

struct Row {
  std::string text;
  std::string_view style;  // an escape sequence; "": none
};
using Rows = std::vector<Row>;

std::string number(const Figure& figure, int decimals = 1) {
  return figure && std::isfinite(*figure) ? fmt::format("{:.{}f}", *figure, decimals) : std::string(kUnknown);
}

std::string percent(const Figure& share) {
  return share && std::isfinite(*share) ? fmt::format("{:.0f} %", 100 * *share) : std::string(kUnknown);
}

std::string duration(const Figure& seconds) {
  if (!seconds || !std::isfinite(*seconds)) return std::string(kUnknown);
  if (*seconds < 1e-3) return fmt::format("{:.0f} us", 1e6 * *seconds);
  return *seconds < 1 ? fmt::format("{:.1f} ms", 1e3 * *seconds) : fmt::format("{:.2f} s", *seconds);
}

std::string latencies(const std::optional<Percentiles>& of) {
  if (!of) return "no request yet";
  return fmt::format("p50 {:>8}   p90 {:>8}   p99 {:>8}{}", duration(of->p50), duration(of->p90), duration(of->p99),
                     of->since_start ? "   since the start" : "");
}

std::string busy(double share, const Paper& paper) {
  return fmt::format("{} {:>3.0f} %", bar(share, kBarColumns, paper.blocks), 100 * std::clamp(share, 0.0, 1.0));
}

std::string state(const std::string& state, bool read) { return read ? state : state + ", page not reached"; }

void add_table(Rows& rows, const Table& table) {
  rows.push_back({});
  const std::string text = table.plain();
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find('\n', at);
    rows.push_back({text.substr(at, end - at), at == 0 ? kBold : std::string_view{}});
    at = end + 1;
  }
}

void add_router(Rows& rows, const Screen& screen) {
  const RouterFigures& router = screen.router;
  rows.push_back({fmt::format("slipstream top   {}   {}", screen.url, screen.model), kBold});
  rows.push_back(
      {screen.span_s ? fmt::format("rates of the last {:.1f} s", *screen.span_s) : "first look: no rates yet", kDim});
  if (!screen.trouble.empty()) rows.push_back({screen.trouble, kRed});
  rows.push_back({});
  rows.push_back({fmt::format("requests      {:.0f} running, {:.0f} waiting; {} a second ended, {} failed", router.running,
                              router.waiting, number(router.ended_per_s), number(router.failed_per_s)),
                  {}});
  rows.push_back({fmt::format("tokens        {} a second, {} of them drafted; {} a step with drafts",
                              number(router.tokens_per_s), percent(router.drafted_share), number(screen.tokens_a_step, 2)),
                  {}});
  rows.push_back({fmt::format("first token   {}", latencies(router.first_token)), {}});
  rows.push_back({fmt::format("next token    {}", latencies(router.next_token)), {}});
}

std::string shortened(const std::string& what) {
  return what.size() <= kWhatLetters ? what : what.substr(0, kWhatLetters - 3) + "...";
}

void add_verifiers(Rows& rows, const Screen& screen, const Paper& paper) {
  Table table({{"verifier"},
               {"state"},
               {"streams", true},
               {"waiting", true},
               {"busy"},
               {"tokens/s", true},
               {"steps/s", true},
               {"a step", true},
               {"rows", true},
               {"what"}});
  for (const VerifierFigures& each : screen.verifiers) {
    table.row({each.name, state(each.state, each.read), std::to_string(each.streams), number(each.waiting, 0),
               busy(each.busy, paper), number(each.tokens_per_s), number(each.steps_per_s), duration(each.step_s),
               number(each.rows), shortened(each.what)});
  }
  if (screen.verifiers.empty()) return rows.push_back({"no verifier: requests wait until one has joined", kRed});
  add_table(rows, table);
}

void add_drafters(Rows& rows, const Screen& screen, const Paper& paper) {
  Table table({{"drafter"},
               {"state"},
               {"streams", true},
               {"busy"},
               {"asks/s", true},
               {"trees/s", true},
               {"nodes/s", true},
               {"a job", true},
               {"an ask wins", true},
               {"if sampled", true},
               {"what"}});
  for (const DrafterFigures& each : screen.drafters) {
    table.row({each.name, state(each.state, each.read), std::to_string(each.streams), busy(each.busy, paper),
               number(each.asks_per_s), number(each.trees_per_s), number(each.nodes_per_s), duration(each.draft_s),
               number(each.greedy_gain, 2), number(each.sampled_gain, 2), shortened(each.what)});
  }
  if (!screen.drafters.empty()) add_table(rows, table);
}

void add_depths(Rows& rows, const Screen& screen, const Paper& paper) {
  Table table({{"depth", true}, {"accepted"}, {"", true}, {"of", true}});
  for (const DepthFigures& each : screen.depths) {
    const double share = each.accepted / each.verified;
    table.row({each.depth, bar(share, kWideBarColumns, paper.blocks), percent(share), fmt::format("{:.0f}", each.verified)});
  }
  if (!screen.depths.empty()) add_table(rows, table);
}

void add_kinds(Rows& rows, const Screen& screen) {
  Table table({{"who guesses"},
               {"drafters", true},
               {"asks/s", true},
               {"asked", true},
               {"accepted/s", true},
               {"a node wins", true},
               {"and costs", true},
               {"an ask wins", true},
               {"if sampled", true}});
  for (const KindFigures& each : screen.kinds) {
    table.row({each.name, number(each.drafters, 0), number(each.asked_per_s), percent(each.asked_share),
               number(each.accepted_per_s), number(each.node_gain, 3), number(each.node_cost, 3), number(each.greedy_gain, 2),
               number(each.sampled_gain, 2)});
  }
  if (!screen.kinds.empty()) add_table(rows, table);
}

void add_thresholds(Rows& rows, const Screen& screen) {
  Table table({{"threshold"}, {"h", true}, {"depth", true}, {"price: row", true}, {"draft", true}, {"why"}});
  for (const ThresholdFigures& each : screen.thresholds) {
    const bool all = each.kind.empty();
    const auto unless_all = [&](std::string text) { return all ? std::string(kUnknown) : std::move(text); };
    table.row({all ? "all drafters" : each.kind, number(each.threshold, 2), unless_all(std::to_string(each.depth_max)),
               unless_all(number(each.verify_price, 3)), unless_all(number(each.draft_price, 3)), each.why});
  }
  if (!screen.thresholds.empty()) add_table(rows, table);
}

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

// The first `columns` characters; every one of ours is one column wide.
std::string clipped(std::string text, int columns) {
  std::ranges::replace_if(text, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  if (columns <= 0) return text;
  int seen = 0;
  const auto end = std::ranges::find_if(text, [&](char c) { return !continues(c) && seen++ == columns; });
  text.erase(end, text.end());
  return text;
}

std::string printed(const Row& row, const Paper& paper) {
  const std::string text = clipped(row.text, paper.columns);
  return paper.colours && !row.style.empty() ? fmt::format("{}{}{}", row.style, text, kReset) : text;
}

void fit(Rows& rows, int most) {
  if (most <= 0 || rows.size() <= static_cast<size_t>(most)) return;
  const size_t left_out = rows.size() - static_cast<size_t>(most) + 1;
  rows.resize(static_cast<size_t>(most) - 1);
  rows.push_back({fmt::format("{} more rows: make the window higher", left_out), kDim});
}

}  // namespace

std::string bar(double share, int columns, bool blocks) {
  constexpr std::string_view kEighths[] = {" ", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589", "\u2588"};
  constexpr int kParts = 8;
  const double filled = std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0;
  const int eighths = static_cast<int>(std::lround(filled * columns * kParts));
  std::string text;
  for (int column = 0; column < columns; ++column) {
    const int part = std::clamp(eighths - column * kParts, 0, kParts);
    text += blocks ? kEighths[part] : part > kParts / 2 ? "#" : ".";
  }
  return text;
}

std::vector<std::string> render(const Screen& screen, const Paper& paper) {
  Rows rows;
  add_router(rows, screen);
  if (screen.trouble.empty()) {
    add_verifiers(rows, screen, paper);
    add_drafters(rows, screen, paper);
    add_depths(rows, screen, paper);
    add_kinds(rows, screen);
    add_thresholds(rows, screen);
  }
  fit(rows, paper.rows);
  std::vector<std::string> lines;
  for (const Row& row : rows) lines.push_back(printed(row, paper));
  return lines;
}

}  // namespace slipstream::command::top
