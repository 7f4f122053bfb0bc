#include "common/keys/keys.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/keys/key_file.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class KeysTest : public testing::Test {
 protected:
  KeysTest() {
    for (const char* name : {"router", "verifier", "drafter"}) EXPECT_TRUE(write_key_files(folder_, name, make_key_pair()));
  }
  ~KeysTest() override { std::filesystem::remove_all(folder_); }

  std::string key(const std::string& name) const { return (folder_ / (name + ".key")).string(); }
  std::string peers() const { return (folder_ / "peers").string(); }
  std::string complaint(const std::string& key_file, std::string_view role) const {
    const auto keys = open_keys(key_file, peers(), role);
    return keys ? "" : keys.error().message;
  }

  ptrdiff_t files() const {
    const auto is_file = [](const auto& entry) { return entry.is_regular_file(); };
    return std::ranges::count_if(std::filesystem::recursive_directory_iterator(folder_), is_file);
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("slipstream-keys-" + std::to_string(getpid()));
};

TEST_F(KeysTest, AreReadAsTheyWereWritten) {
  const auto keys = open_keys(key("drafter"), peers(), "drafter");
  ASSERT_TRUE(keys && *keys) << keys.error().message;
  EXPECT_EQ((*keys)->name, "drafter");
  EXPECT_EQ(*(*keys)->enrolled.key_of("drafter"), (*keys)->own.public_key);
  EXPECT_THAT((*keys)->enrolled.names_of("verifier"), ElementsAre("verifier"));
  EXPECT_EQ((*keys)->named("tcp://10.0.0.7:7301"), "tcp://10.0.0.7:7301#drafter");
  EXPECT_FALSE(*open_keys("", "", "drafter")) << "no keys at all";
}

TEST_F(KeysTest, SecretsAreForTheirOwnerOnly) {
  struct stat status{};
  ASSERT_EQ(stat(key("router").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  chmod(key("router").c_str(), 0640);
  EXPECT_THAT(complaint(key("router"), "router"), HasSubstr("chmod 600"));
}

TEST(KeyFile, RootMayShowASecretToAGroupAndNobodyElseMay) {
  constexpr uid_t kRoot = 0, kUser = 65532, kOther = 1000;
  EXPECT_TRUE(is_secret(0600, kUser, kUser));
  EXPECT_TRUE(is_secret(0440, kRoot, kUser));
  EXPECT_FALSE(is_secret(0440, kUser, kUser));
  EXPECT_FALSE(is_secret(0440, kOther, kUser));
  EXPECT_FALSE(is_secret(0440, kRoot, kRoot));
  EXPECT_FALSE(is_secret(0460, kRoot, kUser));
  EXPECT_FALSE(is_secret(0444, kRoot, kUser));
}

TEST_F(KeysTest, LeaveNothingWhereTheDiskTakesOnlyAPart) {
  ::signal(SIGXFSZ, SIG_IGN);  // as base/stop_signal.h does
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{30, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const auto written = write_key_files(folder_, "drafter-2", make_key_pair());
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().message, HasSubstr("drafter-2.key: File too large"));
  EXPECT_EQ(files(), 6);
}

TEST_F(KeysTest, LeaveNoSecretHalfWithoutItsPublicOne) {
  std::filesystem::create_directory(folder_ / "peers/drafter-2.pub.new");  // in the way
  ASSERT_FALSE(write_key_files(folder_, "drafter-2", make_key_pair()));
  EXPECT_EQ(files(), 6);
  std::filesystem::remove(folder_ / "peers/drafter-2.pub.new");
  EXPECT_TRUE(write_key_files(folder_, "drafter-2", make_key_pair())) << "nothing is in the way of the next try";
}

TEST_F(KeysTest, AreNeverWrittenOver) {
  const auto before = *read_key_file(key("router"));
  const auto again = write_key_files(folder_, "router", make_key_pair());
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("exists already"));
  EXPECT_EQ(read_key_file(key("router"))->public_key, before.public_key);
}

TEST_F(KeysTest, ThatAreNoneAreNamedInASentence) {
  EXPECT_THAT(complaint(key("nobody"), "router"), HasSubstr("slipstream keys new"));
  std::filesystem::resize_file(key("router"), 100);
  EXPECT_THAT(complaint(key("router"), "router"), HasSubstr("cut short"));
  std::ofstream(key("verifier")) << "public " << make_key_pair().public_key << "\nsecret " << make_key_pair().secret_key
                                 << "\n";
  EXPECT_THAT(complaint(key("verifier"), "verifier"), HasSubstr("do not belong together"));
}

TEST_F(KeysTest, MustBeEnrolledAndOfThatRole) {
  EXPECT_THAT(complaint(key("drafter"), "verifier"), HasSubstr("is the key of drafter, and this process is a verifier"));
  std::filesystem::remove(folder_ / "peers/drafter.pub");
  EXPECT_THAT(complaint(key("drafter"), "drafter"), HasSubstr("copy its .pub file there"));
  const auto nowhere = open_keys(key("router"), "/nowhere", "router");
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message, HasSubstr("/nowhere"));
}

TEST_F(KeysTest, BelongToOneNameEach) {
  std::filesystem::copy_file(folder_ / "peers/drafter.pub", folder_ / "peers/drafter-2.pub");
  EXPECT_THAT(complaint(key("router"), "router"), HasSubstr("once more"));
}

// A file that is half there must delay no revocation: it alone is left out.
TEST_F(KeysTest, ThatAreNoneAreLeftOutOnRequestAndNamed) {
  std::ofstream(folder_ / "peers/verifier.pub") << "public half";
  std::vector<std::string> faults;
  const auto enrolled = Enrolled::read(folder_ / "peers", &faults);
  ASSERT_TRUE(enrolled);
  EXPECT_EQ(enrolled->key_of("verifier"), nullptr);
  EXPECT_NE(enrolled->key_of("drafter"), nullptr);
  ASSERT_EQ(faults.size(), 1u);
  EXPECT_THAT(faults[0], HasSubstr("verifier.pub"));
  EXPECT_FALSE(Enrolled::read(folder_ / "peers"));
}

TEST_F(KeysTest, AreNamedByTheirRole) {
  for (const char* name : {"drafter", "drafter-2", "router-east-1"}) EXPECT_TRUE(check_key_name(name)) << name;
  for (const char* name : {"", "boss", "drafters", "drafter/../x", "Drafter", "drafter 2", "drafter#2"}) {
    EXPECT_FALSE(check_key_name(name)) << name;
  }
  EXPECT_TRUE(key_is_of("drafter-2", "drafter"));
  EXPECT_FALSE(key_is_of("drafters", "drafter"));
}

TEST_F(KeysTest, ARoutersNameIsAddedWhereThereIsOnlyOne) {
  auto keys = *open_keys(key("drafter"), peers(), "drafter");
  EXPECT_THAT(*with_router_keys({"tcp://a:1"}, keys), ElementsAre("tcp://a:1#router"));
  EXPECT_THAT(*with_router_keys({"tcp://a:1"}, std::nullopt), ElementsAre("tcp://a:1"));
  EXPECT_THAT(with_router_keys({"tcp://a:1#router-9"}, keys).error().message, HasSubstr("there are: router"));
  EXPECT_THAT(with_router_keys({"tcp://a:1#drafter"}, keys).error().message, HasSubstr("no router key"));
  ASSERT_TRUE(write_key_files(folder_, "router-2", make_key_pair()));
  keys = *open_keys(key("drafter"), peers(), "drafter");
  EXPECT_THAT(with_router_keys({"tcp://a:1"}, keys).error().message, HasSubstr("2 router keys"));
  EXPECT_THAT(*with_router_keys({"tcp://a:1#router-2"}, keys), ElementsAre("tcp://a:1#router-2"));
}

}  // namespace
}  // namespace slipstream
