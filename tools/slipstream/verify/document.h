// A report's content, said once: headings, paragraphs, tables, quotations and plots, and their two forms.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "tools/slipstream/verify/table.h"

namespace slipstream::command::verify {

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
