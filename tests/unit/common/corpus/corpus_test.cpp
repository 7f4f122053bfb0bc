#include "common/corpus/corpus.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/corpus/sealed_file.h"
#include "common/speculation/ngram_guess.h"
#include "tests/unit/common/config/surroundings.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

constexpr uint64_t kTokenizer = 0x1234;
constexpr int32_t kVocabulary = 10;

class CorpusTest : public testing::Test {
 protected:
  CorpusTest() : path((folder.path() / "a.corpus").string()) {
    EXPECT_TRUE(write_corpus(path, kTokenizer, std::vector<TokenId>{1, 2, 3, kTextEnd, 1, 2, 4, kTextEnd}));
  }
  std::string bytes() const {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& bytes) const { std::ofstream(path, std::ios::binary) << bytes; }
  // The file with another body and the seal that belongs to it.
  void write_body(const std::string& body) const {
    const SealedKind kind{.magic = "SLIPCORP", .version = 1, .what = "", .remedy = ""};
    write(seal(kind, kTokenizer, std::as_bytes(std::span(body))) + body);
  }
  std::string problem(uint64_t tokenizer = kTokenizer, int32_t vocabulary = kVocabulary) const {
    const auto corpus = Corpus::open(path, tokenizer, vocabulary);
    return corpus ? "" : corpus.error().message;
  }
  ScopedFolder folder;
  std::string path;
};

TEST_F(CorpusTest, IsFoundByAnyText) {
  const Corpus corpus = Corpus::open(path, kTokenizer, kVocabulary).value();
  EXPECT_EQ(corpus.tokens(), 8);
  NgramCounts own;
  own.append(std::vector<TokenId>{7, 1, 2});
  const std::vector corpora{corpus.text()};
  const auto guesses = guess(own.context(), {.texts = {&own}, .corpora = corpora});
  ASSERT_EQ(guesses.size(), 2U);
  EXPECT_EQ(guesses[0].token + guesses[1].token, 3 + 4);
}

TEST_F(CorpusTest, IsRefusedIfItIsNotThere) {
  path += ".gone";
  EXPECT_EQ(problem(), "cannot open " + path + ": No such file or directory");
}

TEST_F(CorpusTest, IsRefusedIfItIsAnotherFile) {
  write("a text of somebody else, which is long enough for a header");
  EXPECT_EQ(problem(), path + " is no corpus (one begins with SLIPCORP): make it with `slipstream corpus`, or do without it");
}

TEST_F(CorpusTest, IsRefusedIfItIsOfAnotherVersion) {
  std::string other = bytes();
  other[8] = 7;
  write(other);
  EXPECT_THAT(problem(), HasSubstr("is a corpus of version 7, and this program reads version 1"));
}

TEST_F(CorpusTest, IsRefusedIfItIsOfAnotherTokenizer) {
  EXPECT_THAT(
      problem(0x99),
      HasSubstr("is of tokenizer 0000000000001234, and the model's is 0000000000000099, so its tokens would mean other words"));
}

TEST_F(CorpusTest, IsRefusedIfItWasCutShort) {
  write(bytes().substr(0, 60));
  EXPECT_THAT(problem(), HasSubstr("has 20 bytes behind its header, which says 72: it was cut short"));
}

TEST_F(CorpusTest, IsRefusedIfAByteWasChanged) {
  std::string other = bytes();
  other.back() ^= 1;
  write(other);
  EXPECT_THAT(problem(), HasSubstr("is damaged, as its checksum shows"));
}

TEST_F(CorpusTest, IsRefusedIfTheModelHasFewerTokens) {
  EXPECT_THAT(problem(kTokenizer, 4), HasSubstr("has tokens that the model has not"));
}

TEST_F(CorpusTest, NeedsATextAndRoomForIt) {
  EXPECT_THAT(write_corpus(path, kTokenizer, {}).error().message, HasSubstr("there is no text"));
}

// Whatever bytes follow a right seal: a sentence or a corpus that can be asked, and no read outside
// of it.
TEST_F(CorpusTest, NeverReadsOutsideOfItself) {
  std::mt19937_64 dice(3);
  const std::string whole = bytes().substr(kSealBytes);
  int opened = 0;
  for (int round = 0; round < 300; ++round) {
    std::string body = whole.substr(0, round % 3 == 0 ? dice() % (whole.size() + 1) : whole.size());
    for (uint64_t changes = dice() % 3; changes > 0 && !body.empty(); --changes) {
      body[dice() % body.size()] = static_cast<char>(dice() % 2 == 0 ? dice() : dice() % 12);
    }
    write_body(body);
    const auto corpus = Corpus::open(path, kTokenizer, kVocabulary);
    if (!corpus) continue;
    ++opened;
    NgramCounts own;
    own.append(std::vector<TokenId>{3, 1, 2});
    const std::vector corpora{corpus->text()};
    guess(own.context(), {.texts = {&own}, .corpora = corpora});
  }
  EXPECT_GT(opened, 10);
}

// And whatever the header says.
TEST_F(CorpusTest, ChecksEveryByteOfItsHeader) {
  const std::string whole = bytes();
  for (size_t at = 0; at < kSealBytes; ++at) {
    const bool unused = at >= 12 && at < 16;
    std::string other = whole;
    other[at] ^= 0x5A;
    write(other);
    EXPECT_EQ(problem().empty(), unused) << "byte " << at;
    write(whole.substr(0, at));
    EXPECT_FALSE(problem().empty()) << "cut at byte " << at;
  }
}

}  // namespace
}  // namespace slipstream
