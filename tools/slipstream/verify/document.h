// A report's content, said once: headings, paragraphs, tables, quotations and plots, and their two
// forms.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace slipstream::command::verify {

// Text that nobody can mistake: a model's words as they may stand in a report.
std::string visible(std::string_view text);  // on one line: \n, \t, \\ and \x07 written out
std::string quoted(std::string_view text);   // the same between quotes
std::string html_escaped(std::string_view text);
std::string markdown_escaped(std::string_view text);

// A table that lines up: on a terminal, in Markdown, in HTML.
class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;  // numbers
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells);  // as many as there are columns
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
  std::string lines;  // shown as they are, in columns
};
struct Plot {
  std::string svg;  // in HTML only
};

using Block = std::variant<Heading, Paragraph, Quotation, Table, Plot>;
using Document = std::vector<Block>;

std::string markdown(const Document& document);
std::string html(const std::string& title, const Document& document);  // one page that needs nothing else

}  // namespace slipstream::command::verify
