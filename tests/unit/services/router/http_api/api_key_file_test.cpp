#include "services/router/http_api/api_key_file.h"

#include <unistd.h>

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ApiKeyFileTest : public testing::Test {
 protected:
  ApiKeyFileTest() { write("alice sk-one\n"); }
  ~ApiKeyFileTest() override { std::filesystem::remove(file_); }

  // In one rename, as an editor does. Each file has another size, so that the change is noticed
  // whatever the resolution of the file system's clock.
  void write(const std::string& text) {
    const std::filesystem::path fresh = file_.string() + ".new";
    std::ofstream(fresh) << text;
    std::filesystem::permissions(fresh, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    std::filesystem::rename(fresh, file_);
  }
  ApiKeyFile open() {
    auto file = ApiKeyFile::open(file_);
    EXPECT_TRUE(file) << file.error().message;
    return *std::move(file);
  }
  // The status of a request, at a look at the file that is due.
  int status(ApiKeyFile& file, const std::string& authorization, const std::string& path = "/v1/models",
             const std::string& method = "GET") {
    now_ += FileWatch::kBetweenLooks;
    return status_now(file, authorization, path, method);
  }
  int status_now(ApiKeyFile& file, const std::string& authorization, const std::string& path = "/v1/models",
                 const std::string& method = "GET") {
    const auto refusal = file.refusal({.method = method, .path = path, .authorization = authorization}, now_);
    return refusal ? refusal->status : 200;
  }

  std::filesystem::path file_ = std::filesystem::temp_directory_path() / ("slipstream-api-keys-" + std::to_string(getpid()));
  ApiKeyFile::Clock::time_point now_{};
};

TEST_F(ApiKeyFileTest, LetsARequestPassThatHasOneOfItsKeys) {
  ApiKeyFile file = open();
  EXPECT_EQ(file.keys(), 1U);
  EXPECT_EQ(status(file, "Bearer sk-one"), 200);
  EXPECT_EQ(status(file, "bearer sk-one"), 200) << "the scheme has no case";
  EXPECT_EQ(status(file, "BEARER   sk-one"), 200) << "several blanks are one";
  for (const char* wrong : {"", "Bearer ", "Bearer sk-two", "Bearer sk-one ", "Bearersk-one", "Basic sk-one", "sk-one"})
    EXPECT_EQ(status(file, wrong), 401) << wrong;
}

TEST_F(ApiKeyFileTest, SaysHowAKeyIsSentOrThatItIsNoneOfIts) {
  ApiKeyFile file = open();
  const auto none = file.refusal({.method = "GET", .path = "/"});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->code, "invalid_api_key");
  EXPECT_THAT(none->message, AllOf(HasSubstr("Authorization: Bearer KEY"), HasSubstr("x-api-key: KEY")));
  for (const char* unread : {"sk-one", "Basic sk-one", "Bearersk-one"}) {
    const auto refusal = file.refusal({.method = "GET", .path = "/", .authorization = unread});
    ASSERT_TRUE(refusal) << unread;
    EXPECT_THAT(refusal->message, AllOf(HasSubstr("the word Bearer and a blank before a key"), HasSubstr("x-api-key: KEY")));
    EXPECT_THAT(refusal->message, testing::Not(HasSubstr("sk-one"))) << "a message may be logged";
  }
  EXPECT_THAT(file.refusal({.method = "GET", .path = "/", .authorization = "Bearer no"})->message, HasSubstr("not one of"));
}

TEST_F(ApiKeyFileTest, LetsOnlyAnAdminsKeyDrainDrafters) {
  write("alice sk-one\nbob sk-0123456789abcdef admin\n");
  ApiKeyFile file = open();
  const char* kDrain = "/drafters/00000000000000af/drain";
  EXPECT_EQ(status(file, "", kDrain, "POST"), 401);
  EXPECT_EQ(status(file, "Bearer sk-none", kDrain, "POST"), 401);
  EXPECT_EQ(status(file, "Bearer sk-one", kDrain, "POST"), 403);
  EXPECT_EQ(status(file, "Bearer sk-0123456789abcdef", kDrain, "POST"), 200);
  EXPECT_EQ(status(file, "Bearer sk-0123456789abcdef"), 200) << "it may do what others may, too";
}

TEST_F(ApiKeyFileTest, AsksNoKeyOfTheFilesOfTheWebPage) {
  ApiKeyFile file = open();
  for (const char* path : {"/ui", "/ui/app.js", "/ui/nothing"}) {
    EXPECT_EQ(status(file, "", path), 200) << path;
    EXPECT_EQ(status(file, "", path, "HEAD"), 200) << path;
    EXPECT_EQ(status(file, "", path, "POST"), 401) << path;
  }
  for (const char* path : {"/uix", "/workers", "/tuning", "/v1/models"}) EXPECT_EQ(status(file, "", path), 401) << path;
}

TEST_F(ApiKeyFileTest, AsksNoKeyOfProbesAndScrapesOnly) {
  ApiKeyFile file = open();
  for (const char* path : {"/health", "/ready", "/metrics"}) {
    EXPECT_EQ(status(file, "", path), 200) << path;
    EXPECT_EQ(status(file, "", path, "HEAD"), 200) << path;
    EXPECT_EQ(status(file, "", path, "POST"), 401) << path;
  }
  for (const char* path : {"/", "/v1/models", "/v1/chat/completions", "/nowhere", "/health/", "//metrics", "/metrics2"})
    EXPECT_EQ(status(file, "", path), 401) << path;
}

TEST_F(ApiKeyFileTest, TakesOverAChangeWithoutARestart) {
  ApiKeyFile file = open();
  write("alice sk-one\nbob sk-two\n");
  EXPECT_EQ(status(file, "Bearer sk-two"), 200);
  write("bob sk-two\n");
  EXPECT_EQ(status_now(file, "Bearer sk-one"), 200) << "no look is due yet";
  EXPECT_EQ(status(file, "Bearer sk-one"), 401) << "revoked";
  EXPECT_EQ(status(file, "Bearer sk-two"), 200);
}

TEST_F(ApiKeyFileTest, KeepsItsKeysWhileTheFileIsBadOrGone) {
  ApiKeyFile file = open();
  for (const char* bad : {"", "one two three\n", "# nothing\n"}) {
    write(bad);
    EXPECT_EQ(status(file, "Bearer sk-one"), 200) << bad;
    EXPECT_EQ(status(file, "Bearer one"), 401) << bad;
  }
  std::filesystem::remove(file_);
  EXPECT_EQ(status(file, "Bearer sk-one"), 200);
  write("sk-three\n");
  EXPECT_EQ(status(file, "Bearer sk-one"), 401);
  EXPECT_EQ(status(file, "Bearer sk-three"), 200);
}

TEST_F(ApiKeyFileTest, IsRefusedAtTheStartWithItsNameAndTheLine) {
  write("sk-one\nthree words here\n");
  auto bad = ApiKeyFile::open(file_);
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().message, AllOf(HasSubstr(file_.string()), HasSubstr("line 2")));
  EXPECT_THAT(ApiKeyFile::open("/nowhere/keys").error().message, AllOf(HasSubstr("/nowhere/keys"), HasSubstr("No such file")));
  EXPECT_THAT(ApiKeyFile::open("/tmp").error().message, HasSubstr("is no file"));
}

TEST_F(ApiKeyFileTest, KnowsWhetherOthersMayReadIt) {
  EXPECT_FALSE(open().others_may_read());
  std::filesystem::permissions(file_, std::filesystem::perms::others_read, std::filesystem::perm_options::add);
  EXPECT_TRUE(open().others_may_read());
}

}  // namespace
}  // namespace slipstream
