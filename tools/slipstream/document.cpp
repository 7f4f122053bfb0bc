#include "tools/slipstream/document.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/check.h"

namespace slipstream::command {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --ink: #222; --paper: #fff; --line: #ddd; --quote: #f5f5f5; }
@media (prefers-color-scheme: dark) { :root { --ink: #ddd; --paper: #16181c; --line: #3a3f47; --quote: #22262c; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: var(--ink);
  background: var(--paper); }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
.wide { margin: 1rem 0; overflow-x: auto; } table { border-collapse: collapse; }
th, td { padding: .2rem .5rem; border-bottom: 1px solid var(--line); text-align: left; }
.right { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } .part { padding-left: 1.5rem; }
pre { background: var(--quote); padding: .8rem; overflow-x: auto; }
svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); }
)";

struct MarkdownWriter {
  std::string operator()(const Heading& heading) const {
    return fmt::format("{} {}\n", std::string(static_cast<size_t>(heading.level), '#'), markdown_escaped(heading.text));
  }
  std::string operator()(const Paragraph& paragraph) const { return markdown_escaped(paragraph.text) + "\n"; }
  std::string operator()(const Quotation& quotation) const {
    // An indented block needs no escapes, unlike a fenced one, whose fence the text could contain.
    std::string text = "    ";
    for (char c : quotation.lines) text += c == '\n' ? std::string("\n    ") : std::string(1, c);
    return text + "\n";
  }
  std::string operator()(const Table& table) const { return table.markdown(); }
  std::string operator()(const Plot&) const { return ""; }
};

struct HtmlWriter {
  std::string operator()(const Heading& heading) const {
    return fmt::format("<h{0}>{1}</h{0}>\n", heading.level, html_escaped(heading.text));
  }
  std::string operator()(const Paragraph& paragraph) const { return fmt::format("<p>{}</p>\n", html_escaped(paragraph.text)); }
  std::string operator()(const Quotation& quotation) const {
    return fmt::format("<pre>{}</pre>\n", html_escaped(quotation.lines));
  }
  std::string operator()(const Table& table) const { return table.html(); }
  std::string operator()(const Plot& plot) const { return plot.svg; }
};

// Counts UTF-8 characters: every byte that does not continue one.
size_t characters(const std::string& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(const std::string& text, size_t width, bool right) {
  const std::string spaces(width - std::min(width, characters(text)), ' ');
  return right ? spaces + text : text + spaces;
}

}  // namespace

std::string visible(std::string_view text) {
  std::string shown;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      shown += "\\n";
    } else if (c == '\t') {
      shown += "\\t";
    } else if (c == '\\') {
      shown += "\\\\";
    } else if (byte < 0x20 || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += c;
    }
  }
  return shown;
}

std::string quoted(std::string_view text) { return fmt::format("\"{}\"", visible(text)); }

std::string html_escaped(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string markdown_escaped(std::string_view text) {
  std::string escaped;
  for (char c : text) {
    if (std::string_view("\\`*_|<>[]").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void Table::row(std::vector<std::string> cells) {
  CHECK(cells.size() == columns_.size(), "a row has {} cells, the table {} columns", cells.size(), columns_.size());
  rows_.push_back(std::move(cells));
}

std::string Table::lines(const std::vector<std::vector<std::string>>& rows, bool markdown) const {
  std::vector<size_t> widths(columns_.size(), markdown ? 3 : 0);
  for (size_t i = 0; i < columns_.size(); ++i) {
    widths[i] = std::max(widths[i], characters(columns_[i].title));
    for (const auto& row : rows) widths[i] = std::max(widths[i], characters(row[i]));
  }
  std::string text;
  const auto line = [&](auto&& cell_of) {
    std::string cells;
    for (size_t i = 0; i < columns_.size(); ++i) {
      cells += fmt::format("{}{}", i == 0 ? "" : markdown ? " | " : "  ", padded(cell_of(i), widths[i], columns_[i].right));
    }
    if (!markdown) cells.erase(cells.find_last_not_of(' ') + 1);
    text += markdown ? fmt::format("| {} |\n", cells) : cells + "\n";
  };
  line([&](size_t i) { return columns_[i].title; });
  if (markdown) {
    line([&](size_t i) { return columns_[i].right ? std::string(widths[i] - 1, '-') + ":" : std::string(widths[i], '-'); });
  }
  for (const auto& row : rows) line([&](size_t i) { return row[i]; });
  return text;
}

std::string Table::plain() const { return lines(rows_, false); }

std::string Table::markdown() const {
  // Escape before the columns are aligned: an escape makes a cell wider.
  auto rows = rows_;
  for (auto& row : rows) std::ranges::transform(row, row.begin(), markdown_escaped);
  return lines(rows, true);
}

std::string Table::html() const {
  std::string text = "<div class=\"wide\"><table>\n<tr>";
  // A cell that begins with a space names a part of what the row above it names.
  const auto cell = [this](const char* tag, size_t column, const std::string& content) {
    const char* kind = columns_[column].right ? " class=\"right\"" : content.starts_with(' ') ? " class=\"part\"" : "";
    return fmt::format("<{0}{1}>{2}</{0}>", tag, kind, html_escaped(content));
  };
  for (size_t i = 0; i < columns_.size(); ++i) text += cell("th", i, columns_[i].title);
  text += "</tr>\n";
  for (const auto& row : rows_) {
    text += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) text += cell("td", i, row[i]);
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

std::string markdown(const Document& document) {
  std::string text;
  for (const Block& block : document) {
    const std::string part = std::visit(MarkdownWriter{}, block);
    if (!part.empty()) text += (text.empty() ? "" : "\n") + part;
  }
  return text;
}

std::string html(const std::string& title, const Document& document) {
  std::string body;
  for (const Block& block : document) body += std::visit(HtmlWriter{}, block);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>{}</style>\n</head>\n"
      "<body>\n{}</body>\n</html>\n",
      html_escaped(title), kStyle, body);
}

}  // namespace slipstream::command
