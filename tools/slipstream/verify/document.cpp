#include "tools/slipstream/verify/document.h"

#include <fmt/format.h>

#include "tools/slipstream/verify/visible.h"

namespace slipstream::command::verify {
namespace {

constexpr const char* kStyle = R"(
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2rem; }
table { border-collapse: collapse; } th, td { padding: .2rem .8rem; border-bottom: 1px solid #ddd; text-align: left; }
.right { text-align: right; font-variant-numeric: tabular-nums; }
pre { background: #f5f5f5; padding: .8rem; overflow-x: auto; }
svg text { font: 12px system-ui, sans-serif; fill: #222; }
)";

struct MarkdownWriter {
  std::string operator()(const Heading& heading) const {
    return fmt::format("{} {}\n", std::string(static_cast<size_t>(heading.level), '#'), markdown_escaped(heading.text));
  }
  std::string operator()(const Paragraph& paragraph) const { return markdown_escaped(paragraph.text) + "\n"; }
  std::string operator()(const Quotation& quotation) const {
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

}  // namespace

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

}  // namespace slipstream::command::verify
