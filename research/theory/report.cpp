#include "research/theory/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace slipstream::theory {
namespace {

constexpr const char* kStyle = R"(
body { font: 16px/1.5 system-ui, sans-serif; max-width: 900px; margin: 2em auto; padding: 0 1em; color: #1a1a1a; background: #fff; }
h1 { font-size: 1.6em; } h2 { margin-top: 2.2em; border-top: 1px solid #ccc; padding-top: 1em; }
figure { margin: 1.6em 0; } svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; }
svg .title { font-weight: 600; font-size: 14px; } svg .grid { stroke: #e6e6e6; } svg .frame { fill: none; stroke: #999; }
svg .curve { fill: none; stroke-width: 1.8; } svg .band { opacity: 0.18; } svg .error { stroke-width: 1.2; }
table { border-collapse: collapse; font-size: 0.85em; font-variant-numeric: tabular-nums; margin: 0.6em 0; }
th, td { padding: 1px 12px 1px 0; text-align: right; } th { border-bottom: 1px solid #999; font-weight: 600; }
th:first-child, td:first-child { text-align: left; } tr.outside td { background: #fff1d6; }
.source { color: #555; font-size: 0.9em; } summary { cursor: pointer; color: #555; font-size: 0.9em; }
.broken { color: #a00000; font-weight: 600; }
)";

std::string table_row(const std::vector<std::string>& cells, const char* tag, bool outside = false) {
  std::string text = outside ? "<tr class=\"outside\">" : "<tr>";
  for (const std::string& cell : cells) text += fmt::format("<{0}>{1}</{0}>", tag, escaped(cell));
  return text + "</tr>\n";
}

std::string table_of(const Table& table) {
  std::string text = "<table>\n" + table_row(table.head, "th");
  for (const auto& row : table.rows) text += table_row(row, "td");
  return text + "</table>\n";
}

std::vector<std::string> cells(const Comparison& comparison) {
  const double apart = comparison.standard_errors();
  return {comparison.what,
          fmt::format("{:.5f}", comparison.theory),
          fmt::format("{:.5f}", comparison.simulated.mean),
          fmt::format("± {:.5f}", comparison.simulated.half_width()),
          fmt::format("{}", comparison.simulated.runs),
          std::isfinite(apart) ? fmt::format("{:.2f}", apart) : "impossible"};
}

const std::vector<std::string> kHead{"", "theory", "simulated", "95 % interval", "runs", "standard errors apart"};

std::string comparison_table(const std::vector<Comparison>& comparisons) {
  std::string text = "<table>\n" + table_row(kHead, "th");
  for (const Comparison& comparison : comparisons) text += table_row(cells(comparison), "td", !comparison.inside());
  return text + "</table>\n";
}

std::string sentence(const Agreement& all) {
  return fmt::format(
      "{} comparisons of a simulated mean with its formula: {} outside of their own 95 % interval ({:.1f} expected of right "
      "formulas), the worst {:.2f} standard errors away (right formulas go beyond {:.2f} once in a hundred reports).",
      all.comparisons, all.outside, 0.05 * static_cast<double>(all.comparisons), all.worst, all.bound);
}

std::string exhibit_html(const Exhibit& exhibit) {
  std::string text = "<figure>\n" + svg(exhibit.figure);
  text += fmt::format("<figcaption><p>{}</p><p class=\"source\">{}</p>\n", escaped(exhibit.seen), escaped(exhibit.source));
  for (const std::string& sentence : exhibit.broken) text += fmt::format("<p class=\"broken\">{}</p>\n", escaped(sentence));
  for (const Table& table : exhibit.tables) text += table_of(table);
  if (!exhibit.comparisons.empty()) {
    text += fmt::format("<details><summary>{} numbers, theory beside simulation</summary>\n{}</details>\n",
                        exhibit.comparisons.size(), comparison_table(exhibit.comparisons));
  }
  return text + "</figcaption></figure>\n";
}

// Formats columns: text left-aligned, numbers right-aligned. Widths count characters, not bytes.
size_t width(const std::string& text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char byte) { return (byte & 0xC0) != 0x80; }));
}

std::string in_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths(rows.front().size(), 3);
  for (const auto& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string text;
  for (size_t at = 0; at < rows.size(); ++at) {
    for (size_t i = 0; i < rows[at].size(); ++i) {
      const std::string gap(widths[i] - width(rows[at][i]), ' ');
      text += "| " + (i == 0 ? rows[at][i] + gap : gap + rows[at][i]) + " ";
    }
    text += "|\n";
    if (at > 0) continue;
    for (size_t i = 0; i < widths.size(); ++i) text += "|" + std::string(widths[i] + 1, '-') + (i == 0 ? "-" : ":");
    text += "|\n";
  }
  return text;
}

}  // namespace

std::vector<Comparison> Report::comparisons() const {
  std::vector<Comparison> all;
  for (const Section& section : sections) {
    for (const Exhibit& exhibit : section.exhibits) {
      all.insert(all.end(), exhibit.comparisons.begin(), exhibit.comparisons.end());
    }
  }
  return all;
}

bool Report::holds() const {
  for (const Section& section : sections) {
    for (const Exhibit& exhibit : section.exhibits) {
      if (!exhibit.broken.empty()) return false;
    }
  }
  return agreement(comparisons()).holds();
}

std::string html(const Report& report) {
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>Slipstream: theory beside "
      "simulation</title>\n<style>{}</style>\n</head>\n<body>\n",
      kStyle);
  text += fmt::format(
      "<h1>Speculative decoding: theory beside simulation</h1>\n<p>Lines are formulas, dots are simulations by the acceptance "
      "code "
      "that Slipstream serves with, bars and bands their 95 % intervals. {}</p>\n<p>{}</p>\n",
      escaped(report.made_with), escaped(sentence(agreement(report.comparisons()))));
  for (const Section& section : report.sections) {
    text += fmt::format("<h2>{}</h2>\n<p>{}</p>\n", escaped(section.title), escaped(section.text));
    for (const Exhibit& exhibit : section.exhibits) text += exhibit_html(exhibit);
  }
  return text + "</body>\n</html>\n";
}

std::string summary(const Report& report) {
  std::string text;
  for (const Section& section : report.sections) {
    std::vector<std::vector<std::string>> rows{{section.title, "numbers", "outside 95 %", "worst, std. errors"}};
    for (const Exhibit& exhibit : section.exhibits) {
      const Agreement of = agreement(exhibit.comparisons);
      rows.push_back({exhibit.figure.title, fmt::format("{}", of.comparisons), fmt::format("{}", of.outside),
                      of.comparisons > 0 ? fmt::format("{:.2f}", of.worst) : "-"});
    }
    text += "\n" + in_columns(rows) + "\n";
    for (const Exhibit& exhibit : section.exhibits) {
      text += "- " + exhibit.seen + "\n";
      for (const std::string& sentence : exhibit.broken) text += "- BROKEN: " + sentence + "\n";
    }
  }
  return text + "\n" + sentence(agreement(report.comparisons())) + "\n";
}

}  // namespace slipstream::theory
