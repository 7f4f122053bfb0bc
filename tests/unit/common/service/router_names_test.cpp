#include "common/service/router_names.h"

#include <condition_variable>
#include <future>
#include <map>
#include <mutex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using Texts = std::vector<std::string>;

// A DNS whose answers a test sets. It tells how often it was asked.
class RouterNamesTest : public testing::Test {
 protected:
  RouterNames::LookUp look_up() {
    return [this](const std::string& host) -> Result<Texts> {
      std::unique_lock lock(mutex);
      ++asked[host];
      changed.notify_all();
      const auto at = answers.find(host);
      if (at == answers.end()) return fail("{} has no address now", host);
      return at->second;
    };
  }
  RouterNames::Found found() {
    return [this](Texts endpoints) {
      std::unique_lock lock(mutex);
      changed.notify_all();
      if (refusals > 0) return --refusals, false;
      told.push_back(std::move(endpoints));
      return true;
    };
  }
  void answer(const std::string& host, Texts addresses) {
    std::unique_lock lock(mutex);
    answers[host] = std::move(addresses);
  }
  // Waits until the newest endpoints are these.
  ::testing::AssertionResult becomes(const Texts& wanted) {
    std::unique_lock lock(mutex);
    if (changed.wait_for(lock, 20s, [&] { return !told.empty() && told.back() == wanted; })) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "told " << testing::PrintToString(told);
  }
  // Waits until the host was asked once more, twice over: the first of them may have begun before.
  void asked_again(const std::string& host) {
    std::unique_lock lock(mutex);
    const int before = asked[host];
    ASSERT_TRUE(changed.wait_for(lock, 20s, [&] { return asked[host] >= before + 2; }));
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::string, Texts> answers;
  std::map<std::string, int> asked;
  int refusals = 0;
  std::vector<Texts> told;
};

TEST_F(RouterNamesTest, EachAddressOfANameIsARouterWithItsPortAndKey) {
  answer("routers", {"10.0.0.1", "fd00::2"});
  const RouterNames names({"dns://routers:7300#router"}, found(), look_up(), 1ms);
  EXPECT_TRUE(becomes({"tcp://10.0.0.1:7300#router", "tcp://[fd00::2]:7300#router"}));
}

TEST_F(RouterNamesTest, LooksAgainAndTellsWhatHasChanged) {
  answer("routers", {"10.0.0.1"});
  const RouterNames names({"dns://routers:7300"}, found(), look_up(), 1ms);
  EXPECT_TRUE(becomes({"tcp://10.0.0.1:7300"}));
  answer("routers", {"10.0.0.2", "10.0.0.3"});
  EXPECT_TRUE(becomes({"tcp://10.0.0.2:7300", "tcp://10.0.0.3:7300"}));
  asked_again("routers");
  EXPECT_EQ(told.size(), 2u) << "the same addresses again are no news";
}

TEST_F(RouterNamesTest, ANameThatCannotBeLookedUpKeepsItsAddresses) {
  answer("one", {"10.0.0.1"});
  answer("two", {"10.0.0.2"});
  const RouterNames names({"dns://one:7300", "dns://two:7300"}, found(), look_up(), 1ms);
  EXPECT_TRUE(becomes({"tcp://10.0.0.1:7300", "tcp://10.0.0.2:7300"}));
  {
    std::unique_lock lock(mutex);
    answers.erase("one");
  }
  answer("two", {"10.0.0.3"});
  EXPECT_TRUE(becomes({"tcp://10.0.0.1:7300", "tcp://10.0.0.3:7300"}));
}

TEST_F(RouterNamesTest, WhatCouldNotBeTakenIsToldAgain) {
  refusals = 3;
  answer("routers", {"10.0.0.1"});
  const RouterNames names({"dns://routers:7300"}, found(), look_up(), 1ms);
  EXPECT_TRUE(becomes({"tcp://10.0.0.1:7300"}));
  EXPECT_EQ(refusals, 0);
}

TEST_F(RouterNamesTest, EndsAtOnceWhileItWaitsForTheNextLook) {
  answer("routers", {"10.0.0.1"});
  auto lives = std::async(std::launch::async, [&] {
    const RouterNames names({"dns://routers:7300"}, found(), look_up(), 1h);
    EXPECT_TRUE(becomes({"tcp://10.0.0.1:7300"}));
  });
  EXPECT_EQ(lives.wait_for(60s), std::future_status::ready);
}

}  // namespace
}  // namespace slipstream
