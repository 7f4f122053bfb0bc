#include "common/service/service_main.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr Telling kSilent{.log_level = "off", .log_format = "text", .otlp = ""};

// In a process of its own, as run_service() blocks the signals that stop a service.
int exit_code(Served (*run)()) {
  const pid_t child = fork();
  if (child == 0) _exit(run_service("verifier", kSilent, [run](StopSignal&) { return run(); }));
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST(ServiceMain, EndsWithZeroWhenItRanToItsEnd) {
  EXPECT_EQ(exit_code([] { return Served(); }), 0);
}

TEST(ServiceMain, EndsWithOneAfterWhatAnotherStartMayNotMeet) {
  EXPECT_EQ(exit_code([]() -> Served { return fail("4 jobs failed"); }), 1);
  EXPECT_EQ(exit_code([] { return Served(at_start(Result<void>(fail_for_now("others hold the memory")))); }), 1);
}

TEST(ServiceMain, EndsWithTwoWhereEveryStartWouldFail) {
  const auto load = []() -> Result<int> { return fail("there is no model"); };
  EXPECT_EQ(exit_code([]() -> Served {
              TRY([[maybe_unused]] const int model, at_start(Result<int>(fail("there is no model"))));
              return {};
            }),
            2);
  EXPECT_EQ(at_start(load()).error().message, "there is no model");
}

TEST(ServiceMain, StartsWithWhatWasLoaded) { EXPECT_EQ(at_start(Result<int>(7)).value(), 7); }

}  // namespace
}  // namespace slipstream
