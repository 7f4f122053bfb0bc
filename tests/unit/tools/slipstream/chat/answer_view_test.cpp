#include "tools/slipstream/chat/answer_view.h"

#include <algorithm>
#include <clocale>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/slipstream/chat/letters.h"

namespace slipstream::command::chat {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// A terminal without an end below. It fails where a line wraps by itself.
class Screen {
 public:
  explicit Screen(int columns) : columns_(columns) {}

  void write(const std::string& text) {
    const std::u32string letters = letters_of(text);
    for (size_t at = 0; at < letters.size(); ++at) {
      if (letters[at] == 0x1b) {
        at = obey(letters, at + 2);
      } else if (letters[at] == '\n') {
        ++row_;
        column_ = 0;
      } else if (letters[at] == '\r') {
        column_ = 0;
      } else {
        put(letters[at]);
      }
    }
  }
  // Without blanks at the ends.
  std::vector<std::string> rows() const {
    std::vector<std::string> all;
    for (const std::u32string& row : rows_) {
      std::string text;
      for (const char32_t letter : row) {
        if (letter != 0) append_utf8(text, letter);
      }
      while (text.ends_with(' ')) text.pop_back();
      all.push_back(text);
    }
    return all;
  }

 private:
  // Returns where the sequence ends whose numbers begin at `at`.
  size_t obey(const std::u32string& letters, size_t at) {
    int number = 0;
    for (; letters[at] >= '0' && letters[at] <= '9'; ++at) number = number * 10 + static_cast<int>(letters[at] - '0');
    if (letters[at] == 'A') row_ -= static_cast<size_t>(number);
    if (letters[at] == 'C') column_ += number;
    if (letters[at] == 'D') column_ -= number;
    if (letters[at] == 'K') row().resize(static_cast<size_t>(column_), U' ');
    EXPECT_GE(column_, 0);
    EXPECT_LT(column_, columns_);
    return at;
  }
  void put(char32_t letter) {
    const int wide = columns_of(letter);
    if (wide == 0) return;
    EXPECT_LT(column_ + wide, columns_) << "the last column is used";
    if (row().size() < static_cast<size_t>(column_ + wide)) row().resize(static_cast<size_t>(column_ + wide), U' ');
    row()[static_cast<size_t>(column_)] = letter;
    for (int i = 1; i < wide; ++i) row()[static_cast<size_t>(column_ + i)] = 0;
    column_ += wide;
  }
  std::u32string& row() {
    if (rows_.size() <= row_) rows_.resize(row_ + 1);
    return rows_[row_];
  }

  int columns_, column_ = 0;
  size_t row_ = 0;
  std::vector<std::u32string> rows_{1};
};

class AnswerViewTest : public testing::Test {
 protected:
  AnswerViewTest() { std::setlocale(LC_CTYPE, "C.UTF-8"); }

  std::vector<std::string> shown(const std::vector<std::string>& pieces, int columns) {
    AnswerView view(palette_);
    Screen screen(columns);
    bool drafted = false;
    for (const std::string& piece : pieces) {
      screen.write(view.add({piece, drafted}, columns));
      drafted = !drafted;
    }
    return screen.rows();
  }

  const Palette palette_{true};
};

TEST_F(AnswerViewTest, BreaksLinesBetweenWords) {
  EXPECT_THAT(shown({"The river", " runs thr", "ough Europe."}, 14), ElementsAre("The river", "runs through", "Europe."));
  EXPECT_THAT(shown({"one two\n\n  three"}, 40), ElementsAre("one two", "", "  three"));
}

TEST_F(AnswerViewTest, LeavesOutBlanksAtTheEdge) {
  EXPECT_THAT(shown({"aaaa bbbb  cccc"}, 10), ElementsAre("aaaa bbbb", "cccc"));
  EXPECT_THAT(shown({"aaaa bbbb", "  ", "\ncccc"}, 10), ElementsAre("aaaa bbbb", "cccc"));
}

TEST_F(AnswerViewTest, BreaksAWordThatNoLineHolds) {
  EXPECT_THAT(shown({"abcdefgh", "ijklmnop"}, 6), ElementsAre("abcde", "fghij", "klmno", "p"));
  EXPECT_THAT(shown({"ab cdefghijkl"}, 6), ElementsAre("ab", "cdefg", "hijkl"));
}

TEST_F(AnswerViewTest, BreaksBeforeAWideLetter) {
  EXPECT_THAT(shown({"漢字漢字漢字"}, 6), ElementsAre("漢字", "漢字", "漢字"));
  EXPECT_EQ(shown({"e\xcc\x81tudes e\xcc\x81"}, 9).size(), 1U) << "a mark takes no column";
}

TEST_F(AnswerViewTest, KeepsTheColoursOfAWordThatMoves) {
  AnswerView view(palette_);
  (void)view.add({"aaaa ", false}, 10);
  (void)view.add({"bbb", true}, 10);
  EXPECT_THAT(view.add({"cc", false}, 10), HasSubstr("\x1b[K\x1b[32mbbb\x1b[0mc"));
}

TEST_F(AnswerViewTest, HasItsFiguresBelowTheTextUntilItEnds) {
  AnswerView view(palette_);
  Screen screen(12);
  screen.write(view.below("waiting for the first word", 12));
  EXPECT_THAT(screen.rows(), ElementsAre("", "waiting for"));
  screen.write(view.add({"one two", false}, 12));
  screen.write(view.below("2 tokens", 12));
  EXPECT_THAT(screen.rows(), ElementsAre("one two", "2 tokens"));
  screen.write(view.add({" three\nfour", false}, 12));
  EXPECT_THAT(screen.rows(), ElementsAre("one two", "three", "four", "2 tokens"));
  screen.write(view.end() + "done");
  EXPECT_THAT(screen.rows(), ElementsAre("one two", "three", "four", "done"));
}

TEST_F(AnswerViewTest, BeginsEachAnswerAnew) {
  AnswerView view(palette_);
  Screen screen(12);
  for (const char* text : {"one two", "three"}) screen.write(view.add({text, false}, 12) + view.end());
  EXPECT_THAT(screen.rows(), ElementsAre("one two", "three", ""));
}

// Lines as a whole text has them, by filling each with words.
std::vector<std::string> filled(const std::string& text, size_t room) {
  std::vector<std::string> rows{""};
  std::string gap;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\n') {
      rows.emplace_back();
      gap.clear();
      ++at;
      continue;
    }
    size_t end = at;
    while (end < text.size() && (text[end] == ' ') == (text[at] == ' ') && text[end] != '\n') ++end;
    const std::string run = text.substr(at, end - at);
    at = end;
    if (run[0] == ' ') {
      gap = run;
      continue;
    }
    if (rows.back().size() + gap.size() + run.size() > room && rows.back().size() + gap.size() > 0) {
      rows.emplace_back();
    } else {
      rows.back() += gap;
    }
    gap.clear();
    rows.back() += run;
  }
  return rows;
}

// Words that fit, in pieces that are cut anywhere.
TEST_F(AnswerViewTest, ShowsTheSameLinesHoweverAnAnswerIsCutIntoPieces) {
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    const int columns = 8 + static_cast<int>(random() % 30);
    std::string text;
    for (int word = 0; word < 30; ++word) {
      if (word > 0) text += random() % 8 == 0 ? "\n" : " ";
      text += std::string(1 + random() % static_cast<unsigned>(columns - 1), static_cast<char>('a' + word % 26));
    }
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      const size_t size = 1 + random() % 9;
      pieces.push_back(text.substr(at, size));
      at += size;
    }
    ASSERT_EQ(shown(pieces, columns), filled(text, static_cast<size_t>(columns - 1))) << text;
  }
}

}  // namespace
}  // namespace slipstream::command::chat
