#include "tools/slipstream/verify/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/base/check.h"
#include "tools/slipstream/verify/visible.h"

namespace slipstream::command::verify {
namespace {

size_t characters(const std::string& text) {
  return static_cast<size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

std::string padded(const std::string& text, size_t width, bool right) {
  const std::string spaces(width - std::min(width, characters(text)), ' ');
  return right ? spaces + text : text + spaces;
}

}  // namespace

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
  auto rows = rows_;
  for (auto& row : rows) std::ranges::transform(row, row.begin(), markdown_escaped);
  return lines(rows, true);
}

std::string Table::html() const {
  std::string text = "<table>\n<tr>";
  const auto cell = [this](const char* tag, size_t column, const std::string& content) {
    return fmt::format("<{0}{1}>{2}</{0}>", tag, columns_[column].right ? " class=\"right\"" : "", html_escaped(content));
  };
  for (size_t i = 0; i < columns_.size(); ++i) text += cell("th", i, columns_[i].title);
  text += "</tr>\n";
  for (const auto& row : rows_) {
    text += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) text += cell("td", i, row[i]);
    text += "</tr>\n";
  }
  return text + "</table>\n";
}

}  // namespace slipstream::command::verify
