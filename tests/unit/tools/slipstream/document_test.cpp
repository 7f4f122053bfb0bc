#include "tools/slipstream/document.h"

#include <gmock/gmock.h>

namespace slipstream::command {
namespace {

using testing::HasSubstr;
using testing::Not;

Table table() {
  Table table({{"what"}, {"count", true}});
  table.row({"ä|b", "7"});
  table.row({"longer", "1234567"});
  return table;
}

TEST(ReportTable, LinesUpByCharactersAndNotByBytes) {
  EXPECT_EQ(table().plain(),
            "what      count\n"
            "ä|b           7\n"
            "longer  1234567\n");
}

TEST(ReportTable, LinesUpInMarkdownToo) {
  EXPECT_EQ(table().markdown(),
            "| what   |   count |\n"
            "| ------ | ------: |\n"
            "| ä\\|b   |       7 |\n"
            "| longer | 1234567 |\n");
}

TEST(ReportDocument, QuotesAModelsWordsSoThatTheyAreOnlyWords) {
  const Document document{Heading{2, "a*b"}, Paragraph{"<script>"}, Quotation{"```\n<b>"}, Plot{"<svg/>"}};
  const std::string text = markdown(document), page = html("t", document);
  EXPECT_THAT(text, HasSubstr("## a\\*b\n"));
  EXPECT_THAT(text, HasSubstr("    ```\n    <b>\n"));
  EXPECT_THAT(text, Not(HasSubstr("svg")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, HasSubstr("<svg/>"));
}

TEST(ReportText, ShowsWhatCannotBeSeen) { EXPECT_EQ(visible("a\n\t\x07\\é"), "a\\n\\t\\x07\\\\é"); }

TEST(ReportTable, ShowsOnAPageWhichRowIsAPartOfTheOneAbove) {
  Table table({{"what"}, {"count", true}});
  table.row({"requests", "2"});
  table.row({"  complete", "1"});
  EXPECT_THAT(table.html(), HasSubstr("<td>requests</td>"));
  EXPECT_THAT(table.html(), HasSubstr("<td class=\"part\">  complete</td>"));
}

}  // namespace
}  // namespace slipstream::command
