#include "tools/slipstream/chat/line_editor.h"

#include <clocale>

#include <gtest/gtest.h>

namespace slipstream::command::chat {
namespace {

using Event = LineEditor::Event;

constexpr std::string_view kLeft = "\x1b[D", kRight = "\x1b[C", kUp = "\x1b[A", kDown = "\x1b[B", kHome = "\x1b[H",
                           kEnd = "\x1b[F", kDelete = "\x1b[3~";

class LineEditorTest : public testing::Test {
 protected:
  LineEditorTest() {
    std::setlocale(LC_CTYPE, "C.UTF-8");
    editor.begin();
  }
  Event type(std::string_view bytes) {
    Event event = Event::none;
    for (const char byte : bytes) event = editor.type(byte);
    return event;
  }
  template <class... Keys>
  std::string typed(Keys... keys) {
    (type(keys), ...);
    return editor.text();
  }
  void enter(std::string_view line) {
    type(line);
    EXPECT_EQ(type("\r"), Event::line);
    editor.remember();
    editor.begin();
  }
  LineEditor editor;
};

TEST_F(LineEditorTest, TakesLettersAndEndsALineAtEnter) {
  EXPECT_EQ(typed("h\xc3\xa4llo \xe2\x82\xac \xf0\x9f\x98\x80"), "h\xc3\xa4llo \xe2\x82\xac \xf0\x9f\x98\x80");
  EXPECT_EQ(type("\r"), Event::line);
}

TEST_F(LineEditorTest, InsertsWhereTheCursorIs) {
  EXPECT_EQ(typed("ac", kLeft, "b"), "abc");
  EXPECT_EQ(typed(kHome, "<", kEnd, ">"), "<abc>");
  EXPECT_EQ(typed(kHome, kRight, "!"), "<!abc>");
}

TEST_F(LineEditorTest, DeletesWholeLettersAndWordsAndLines) {
  EXPECT_EQ(typed("x\xe2\x82\xac", "\x7f"), "x");
  EXPECT_EQ(typed("yz", kHome, kDelete), "yz");
  EXPECT_EQ(typed(kEnd, " one two", "\x17"), "yz one ");
  EXPECT_EQ(typed(kHome, "\x0b"), "");
  EXPECT_EQ(typed("abc", kLeft, "\x15"), "c");
}

TEST_F(LineEditorTest, DoesNothingAtTheEdges) {
  EXPECT_EQ(typed("\x7f", kLeft, kRight, kDelete, kUp, kDown), "");
  EXPECT_EQ(typed("a", kRight, kDelete, "b"), "ab");
}

TEST_F(LineEditorTest, ShowsTheLinesBeforeAndComesBackToTheNewOne) {
  enter("first");
  enter("second");
  type("ne");
  EXPECT_EQ(typed(kUp), "second");
  EXPECT_EQ(typed(kUp), "first");
  EXPECT_EQ(typed(kUp), "first");
  EXPECT_EQ(typed(kDown), "second");
  EXPECT_EQ(typed(kDown, "w"), "new");
}

TEST_F(LineEditorTest, RemembersALineOnceIfItComesTwiceInARow) {
  enter("first");
  enter("same");
  enter("same");
  EXPECT_EQ(typed(kUp, kUp), "first");
}

TEST_F(LineEditorTest, GoesOnWithALineThatCtrlZLeft) {
  type("ab");
  EXPECT_EQ(type("\x1a"), Event::suspend);
  EXPECT_EQ(typed("c"), "abc");
}

TEST_F(LineEditorTest, TellsCtrlCFromCtrlDOnAnEmptyLine) {
  EXPECT_EQ(type("\x04"), Event::end);
  EXPECT_EQ(type("ab"), Event::none);
  EXPECT_EQ(type("\x03"), Event::interrupt);
  type(kHome);
  EXPECT_EQ(type("\x04"), Event::none) << "on a line it deletes";
  EXPECT_EQ(editor.text(), "b");
}

TEST_F(LineEditorTest, KeepsLineBreaksOfPastedText) {
  EXPECT_EQ(type("\x1b[200~int a;\rint b;"), Event::none);
  EXPECT_EQ(type("\x1b[201~"), Event::none);
  EXPECT_EQ(editor.text(), "int a;\nint b;");
  EXPECT_EQ(editor.view(80).text, "int a;\xe2\x8f\x8eint b;");
  EXPECT_EQ(type("\r"), Event::line);
}

TEST_F(LineEditorTest, IgnoresKeysThatItDoesNotKnow) { EXPECT_EQ(typed("a\x1b[15~\x1b[1;2P\x1bOQ\x1bxb\x02\x06"), "ab"); }

TEST_F(LineEditorTest, ShowsThePartAroundTheCursor) {
  type("0123456789");
  EXPECT_EQ(editor.view(20).text, "0123456789");
  EXPECT_EQ(editor.view(20).cursor, 10);
  EXPECT_EQ(editor.view(5).text, "6789");
  EXPECT_EQ(editor.view(5).cursor, 4);
  type(kHome);
  EXPECT_EQ(editor.view(5).text, "0123");
  EXPECT_EQ(editor.view(5).cursor, 0);
}

TEST_F(LineEditorTest, KnowsThatSomeLettersAreTwoColumnsWide) {
  type("\xe6\x97\xa5\xe6\x9c\xac");
  EXPECT_EQ(editor.view(20).cursor, 4);
  EXPECT_EQ(editor.view(4).text, "\xe6\x9c\xac");
}

}  // namespace
}  // namespace slipstream::command::chat
