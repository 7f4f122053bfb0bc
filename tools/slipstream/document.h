// The content of a report as a list of blocks (headings, paragraphs, tables, quotations, plots),
// and its two forms: Markdown and HTML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace slipstream::command {

// A model's text, made unambiguous for a report.
std::string visible(std::string_view text);  // on one line, with \n, \t, \\ and \x07 as escapes
std::string quoted(std::string_view text);   // the same between quotes
std::string html_escaped(std::string_view text);
std::string markdown_escaped(std::string_view text);

// A table with aligned columns, for a terminal, Markdown or HTML.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;  // aligned right, for numbers
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells);  // REQUIRES: one cell for each column
  std::string plain() const;
  std::string markdown() const;
  std::string html() const;

 private:
  std::string lines(const std::vector<std::vector<std::string>>& rows, bool markdown) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

struct Heading {
  int level = 1;
  std::string text;
};
struct Paragraph {
  std::string text;
};
struct Quotation {
  std::string lines;  // preformatted text
};
struct Plot {
  std::string svg;  // shown in HTML only
};

using Block = std::variant<Heading, Paragraph, Quotation, Table, Plot>;
using Document = std::vector<Block>;

std::string markdown(const Document& document);
std::string html(const std::string& title, const Document& document);  // one self-contained page

}  // namespace slipstream::command
