#include "common/service/worker_service.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/http/client.h"
#include "tests/data/own_path.h"

namespace slipstream {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct IdleCounters {
  WorkerCounters worker;
  int events = 0;
};

// An actor that does nothing but drain.
class Idle {
 public:
  using Event = std::variant<Woke, RoutersNamed, From<Drain>>;
  using Effect = std::variant<WakeAt, Note>;

  void on(const Event& event, Time, std::vector<Effect>&) {
    ++counters_.events;
    counters_.worker.draining |= std::holds_alternative<From<Drain>>(event);
  }
  const IdleCounters& counters() const { return counters_; }

 private:
  IdleCounters counters_;
};

class WorkerServiceTest : public testing::Test {
 protected:
  static WorkerServiceOptions options() {
    return {.name = "idler",
            .routers = {"tcp://127.0.0.1:7300"},
            .key = {},
            .peers = {},
            .metrics = "127.0.0.1:0",
            .job_stuck = std::chrono::seconds(60),
            .port_file = own_path("idler.json")};
  }
  // Runs an Idle that is told to stop once it is ready and has been looked at.
  template <class Look>
  Result<void> lives(const WorkerServiceOptions& options, Look look) {
    TRY(const WorkerService service, WorkerService::open(options));
    WorkerParts<Idle> parts{
        .make = [](const WorkerPlace&) { return Idle(); },
        .add_metrics = [](const IdleCounters&, Exposition&) {},
        .tell_ready =
            [&](const WorkerPlace& at) {
              look(at);
              stop.request_stop();
            },
        .drain_lines = {.told_to_stop = [&](const IdleCounters& now) { return said(now); },
                        .stopped = [&](const IdleCounters&, const IdleCounters& now) { return said(now); }}};
    return service.run(std::move(parts), stop);
  }
  std::string said(const IdleCounters& now) {
    draining.push_back(now.worker.draining);
    return "a line of the log";
  }

  void TearDown() override { std::filesystem::remove(options().port_file); }

  StopSignal stop;
  std::vector<bool> draining;  // as the two lines of the drain saw it
};

TEST_F(WorkerServiceTest, DrainsItsActorBeforeItEnds) {
  const auto ran = lives(options(), [](const WorkerPlace&) {});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_THAT(draining, ElementsAre(false, true));
}

TEST_F(WorkerServiceTest, TellsItsPlaceAndServesItsPage) {
  const auto ran = lives(options(), [](const WorkerPlace& at) {
    EXPECT_EQ(at.process.routers, options().routers);
    EXPECT_EQ(at.process.metrics_endpoint, "http://" + at.page + "/metrics");
    EXPECT_EQ(at.bound, "");
    std::ifstream file(options().port_file);
    EXPECT_THAT(std::string(std::istreambuf_iterator<char>(file), {}), HasSubstr(at.page));
    http::Client client("127.0.0.1", parse_endpoint(at.page)->port, std::chrono::seconds(20));
    EXPECT_THAT(client.get("/metrics")->body, HasSubstr("role=\"idler\""));
    EXPECT_EQ(client.get("/ready")->status, 503);
  });
  EXPECT_TRUE(ran) << ran.error().message;
}

TEST_F(WorkerServiceTest, TellsOthersTheAdvertisedEndpoint) {
  WorkerServiceOptions bound = options();
  bound.bind = "tcp://127.0.0.1:0";
  const auto ran = lives(bound, [](const WorkerPlace& at) {
    EXPECT_THAT(at.bound, testing::StartsWith("tcp://127.0.0.1:"));
    EXPECT_EQ(at.reached_at, at.bound);
  });
  EXPECT_TRUE(ran) << ran.error().message;
  bound.advertise = "tcp://10.0.0.7:7301";
  EXPECT_TRUE(lives(bound, [](const WorkerPlace& at) { EXPECT_EQ(at.reached_at, "tcp://10.0.0.7:7301"); }));
}

TEST_F(WorkerServiceTest, TellsRoutersTheAdvertisedMetrics) {
  WorkerServiceOptions advertised = options();
  advertised.advertise_metrics = "10.0.0.7:9100";
  const auto ran = lives(advertised, [](const WorkerPlace& at) {
    EXPECT_EQ(at.process.metrics_endpoint, "http://10.0.0.7:9100/metrics");
    EXPECT_THAT(at.page, testing::StartsWith("127.0.0.1:"));
  });
  EXPECT_TRUE(ran) << ran.error().message;
}

// A router on the same machine tells its clients the name by which they call it.
TEST_F(WorkerServiceTest, TellsRoutersOfOtherMachinesAnAddressThatTheyCanReach) {
  WorkerServiceOptions every = options();
  every.metrics = "0.0.0.0:0";
  const auto told = [&](std::vector<std::string> routers) {
    std::string page;
    every.routers = std::move(routers);
    EXPECT_TRUE(lives(every, [&](const WorkerPlace& at) { page = at.process.metrics_endpoint; }));
    return page;
  };
  EXPECT_THAT(told({"tcp://127.0.0.1:7300"}), testing::StartsWith("http://0.0.0.0:"));
  const std::string own = "http://" + own_address("192.0.2.1") + ":";
  EXPECT_THAT(told({"tcp://127.0.0.1:7300", "tcp://192.0.2.1:7300"}), testing::StartsWith(own));
  EXPECT_THAT(told({"dns://routers:7300"}), testing::StartsWith("http://" + own_address("") + ":"));
}

TEST_F(WorkerServiceTest, ItsActorConnectsToEndpointsOnlyAndNotToNames) {
  WorkerServiceOptions both = options();
  both.routers = {"dns://localhost:7300", "tcp://127.0.0.1:7301"};
  const auto ran =
      lives(both, [](const WorkerPlace& at) { EXPECT_THAT(at.process.routers, ElementsAre("tcp://127.0.0.1:7301")); });
  EXPECT_TRUE(ran) << ran.error().message;
}

TEST_F(WorkerServiceTest, RefusesAnAddressThatCannotBeRead) {
  WorkerServiceOptions wrong = options();
  wrong.metrics = "nowhere";
  EXPECT_THAT(WorkerService::open(wrong).error().message, HasSubstr("nowhere"));
}

}  // namespace
}  // namespace slipstream
