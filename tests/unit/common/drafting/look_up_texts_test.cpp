#include "common/drafting/look_up_texts.h"

#include <sys/stat.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/drafting/tenant_file.h"
#include "tests/unit/common/config/surroundings.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr uint64_t kTokenizer = 0x1234;
constexpr int32_t kVocabulary = 100;

class LookUpTextsTest : public testing::Test {
 protected:
  LookUpTextsTest() { options.file = (folder.path() / "answers").string(); }
  std::shared_ptr<LookUpTexts> open(uint64_t tokenizer = kTokenizer) const {
    return LookUpTexts::open(options, tokenizer, kVocabulary).value();
  }
  // What a process does at its end: it saves, and lets the file go.
  static void save_and_end(std::shared_ptr<LookUpTexts>& texts) {
    EXPECT_TRUE(texts->save());
    texts.reset();
  }
  ScopedFolder folder;
  LookUpOptions options;
};

std::vector<TokenId> text_of(LookUpTexts& texts, TenantId tenant) {
  const NgramCounts* found = texts.tenants().find(tenant);
  return found == nullptr ? std::vector<TokenId>{} : found->tail(100);
}

TEST_F(LookUpTextsTest, KeepsWhatTenantsWereAnsweredInAFile) {
  auto first = open();
  first->tenants().append(7, std::vector<TokenId>{1, 2, 3});
  first->tenants().append(8, std::vector<TokenId>{4});
  first->tenants().append(7, std::vector<TokenId>{5});
  const auto tokens = first->tenants().tokens();
  save_and_end(first);
  const auto second = open();
  EXPECT_THAT(text_of(*second, 7), ElementsAre(1, 2, 3, kTextEnd, 5, kTextEnd));
  EXPECT_THAT(text_of(*second, 8), ElementsAre(4, kTextEnd));
  EXPECT_EQ(second->tenants().tokens(), tokens);
}

TEST_F(LookUpTextsTest, ForgetsInTheSameOrderAfterARestart) {
  auto first = open();
  for (TenantId tenant = 1; tenant <= kTenantsMax; ++tenant) first->tenants().append(tenant, std::vector<TokenId>{1});
  first->tenants().append(1, std::vector<TokenId>{1});
  save_and_end(first);
  const auto second = open();
  second->tenants().append(kTenantsMax + 1, std::vector<TokenId>{1});
  EXPECT_EQ(second->tenants().find(2), nullptr);
  EXPECT_NE(second->tenants().find(1), nullptr);
}

// An older release told keys apart by another hash.
TEST_F(LookUpTextsTest, AnswersUnderIdsThatNoKeyHasAnyMoreAreNoErrorAndGoFirst) {
  auto before = open();
  for (TenantId old = 1; old <= kTenantsMax; ++old) before->tenants().append(old, std::vector<TokenId>{1});
  save_and_end(before);
  const auto texts = open();
  for (TenantId key = 1; key <= kTenantsMax; ++key) texts->tenants().append(1000 + key, std::vector<TokenId>{2});
  for (TenantId key = 1; key <= kTenantsMax; ++key) {
    EXPECT_EQ(texts->tenants().find(key), nullptr);
    EXPECT_NE(texts->tenants().find(1000 + key), nullptr);
  }
}

TEST_F(LookUpTextsTest, LetsNobodyElseReadTheFile) {
  ASSERT_TRUE(open()->save());
  struct stat there{};
  ASSERT_EQ(stat(options.file.c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777, 0600U);
}

TEST_F(LookUpTextsTest, WritesNoFileUnlessAsked) {
  options.file = "";
  const auto texts = open();
  texts->tenants().append(7, std::vector<TokenId>{1});
  EXPECT_TRUE(texts->save());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(LookUpTextsTest, BeginsAnewBesideAFileOfAnotherTokenizer) {
  auto first = open();
  first->tenants().append(7, std::vector<TokenId>{1});
  save_and_end(first);
  EXPECT_EQ(open(0x99)->tenants().find(7), nullptr);
  EXPECT_FALSE(std::filesystem::exists(options.file));
  EXPECT_TRUE(std::filesystem::exists(options.file + ".unusable"));
  std::ofstream(options.file) << "SLIP";
  open();
  EXPECT_TRUE(std::filesystem::exists(options.file + ".unusable-2")) << "the first is not replaced";
}

TEST_F(LookUpTextsTest, SaysWhatIsWrongWithABrokenFile) {
  TenantTexts texts;
  texts.append(7, std::vector<TokenId>{1, 2, 3});
  ASSERT_TRUE(write_tenant_file(options.file, kTokenizer, texts));
  const auto problem = [&](int32_t vocabulary) {
    return read_tenant_file(options.file, kTokenizer, vocabulary).error().message;
  };
  EXPECT_THAT(problem(3), HasSubstr("has tokens that the model has not"));
  std::filesystem::resize_file(options.file, 50);
  EXPECT_THAT(problem(kVocabulary), HasSubstr("it was cut short"));
  EXPECT_EQ(open()->tenants().find(7), nullptr);
}

// It was once moved aside and replaced.
TEST_F(LookUpTextsTest, LeavesWhatIsNoFileOfAnswersAsItIs) {
  const auto refusal = [&](const std::string& path) {
    options.file = path;
    const auto texts = LookUpTexts::open(options, kTokenizer, kVocabulary);
    return texts ? "accepted" : texts.error().message;
  };
  const std::string folders = (folder.path() / "folder").string(), letter = (folder.path() / "letter").string();
  std::filesystem::create_directory(folders);
  std::ofstream(letter) << "Dear all,";
  for (const std::string& path : {folders, letter}) {
    EXPECT_THAT(refusal(path), HasSubstr(path + ": it is no file of remembered answers, and is left as it is"));
    EXPECT_TRUE(std::filesystem::exists(path));
    EXPECT_FALSE(std::filesystem::exists(path + ".unusable"));
  }
  EXPECT_THAT(refusal((folder.path() / "nowhere/answers").string()), HasSubstr("is no folder that this process may write to"));
  const std::string begun = (folder.path() / "begun").string();
  std::ofstream(begun) << "SLIP";
  EXPECT_EQ(refusal(begun), "accepted") << "cut short, and set aside";
  EXPECT_TRUE(std::filesystem::exists(begun + ".unusable"));
}

// The last to stop once overwrote what the other had written.
TEST_F(LookUpTextsTest, RefusesAFileThatAnotherHasUntilThatOneEnds) {
  auto first = open();
  const auto second = [&] { return LookUpTexts::open(options, kTokenizer, kVocabulary); };
  for (int time = 0; time < 2; ++time) {
    const auto refused = second();
    ASSERT_FALSE(refused) << time;
    EXPECT_THAT(refused.error().message, HasSubstr("--look-up-file " + options.file + ": a process that runs uses it"));
    ASSERT_TRUE(first->save()) << "the file is replaced, and still the first one's";
  }
  first.reset();
  EXPECT_TRUE(second());
}

TEST_F(LookUpTextsTest, RefusesToStartWithACorpusThatItCannotUse) {
  options.corpora = {(folder.path() / "none.corpus").string()};
  EXPECT_THAT(LookUpTexts::open(options, kTokenizer, kVocabulary).error().message, HasSubstr("none.corpus"));
}

TEST_F(LookUpTextsTest, OpensEveryCorpus) {
  for (const char* name : {"a.corpus", "b.corpus"}) {
    options.corpora.push_back((folder.path() / name).string());
    ASSERT_TRUE(write_corpus(options.corpora.back(), kTokenizer, std::vector<TokenId>{1, 2, kTextEnd}));
  }
  EXPECT_EQ(open()->corpora().size(), 2U);
}

}  // namespace
}  // namespace slipstream
