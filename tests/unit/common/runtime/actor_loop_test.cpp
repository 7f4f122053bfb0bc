#include "common/runtime/actor_loop.h"

#include <future>
#include <semaphore>
#include <thread>

#include <gtest/gtest.h>

#include "common/runtime/memory_transport.h"

namespace slipstream {
namespace {

using namespace std::chrono_literals;

constexpr Peer kServer{1};
constexpr auto kLong = 20s;

struct Finished {  // to the test: what an actor wants known outside
  std::string what;
};

// Answers a Hello with a Welcome, a Leaving with a Refuse; runs a job at each Hello.
struct Server {
  using Event =
      std::variant<Woke, PeerUp, PeerDown, Malformed, From<Hello>, From<Leaving>, From<Drain>, From<Unknown>, Ran<int, int>>;
  using Effect = std::variant<Run<int>, To<Welcome>, To<Refuse>, To<Drain>, Finished>;
  void on(Event event, Time, std::vector<Effect>& effects) {
    std::visit([&](auto& e) { take(e, effects); }, event);
  }
  int counters() const { return heard; }

  void take(From<Hello>& hello, std::vector<Effect>& effects) {
    ++heard;
    peer = hello.peer;
    effects.push_back(Run<int>{20});
  }
  void take(Ran<int, int>& ran, std::vector<Effect>& effects) {
    effects.push_back(To<Welcome>{peer, Welcome{.heartbeat_ms = static_cast<uint32_t>(ran.job + ran.result.value_or(-1))}});
  }
  void take(Malformed& malformed, std::vector<Effect>& effects) { effects.push_back(Finished{malformed.why}); }
  void take(From<Leaving>&, std::vector<Effect>& effects) {
    left = true;
    effects.push_back(Finished{"left"});
  }
  void take(From<Drain>& drain, std::vector<Effect>& effects) { effects.push_back(To<Drain>{peer, drain.message}); }
  void take(PeerDown&, std::vector<Effect>& effects) { effects.push_back(Finished{"down"}); }
  void take(auto&, std::vector<Effect>&) {}

  int heard = 0;
  bool left = false;
  Peer peer;
};

// Connects, says Hello when the link is up, tells the test what comes back.
struct Client {
  using Event = std::variant<Woke, PeerUp, From<Welcome>, From<Drain>, From<Unknown>, int>;
  using Effect = std::variant<Connect, WakeAt, To<Hello>, To<Leaving>, To<Tree>, Finished>;
  void on(Event event, Time now, std::vector<Effect>& effects) {
    if (std::holds_alternative<Woke>(event)) {
      if (woken++ == 0)
        effects.push_back(Connect{kServer, "memory://server"});
      else
        effects.push_back(Finished{now >= 30ms ? "rang" : "rang early"});
    } else if (std::holds_alternative<PeerUp>(event)) {
      effects.push_back(To<Hello>{kServer, Hello{}});
    } else if (auto* welcome = std::get_if<From<Welcome>>(&event)) {
      effects.push_back(Finished{std::to_string(welcome->message.heartbeat_ms)});
    } else if (auto* drain = std::get_if<From<Drain>>(&event)) {
      effects.push_back(Finished{drain->message.reason});
    } else if (auto* order = std::get_if<int>(&event)) {
      if (*order == 1) effects.push_back(To<Tree>{kServer, Tree{}});
      if (*order == 2) effects.push_back(WakeAt{30ms});
      if (*order == 3) effects.push_back(To<Leaving>{kServer, Leaving{}});
    }
  }
  int counters() const { return woken; }
  int woken = 0;
};

// Words from an actor's thread to the test's.
class Words {
 public:
  void operator()(Finished finished) { queue_->push(std::move(finished)), queue_->wake(); }
  std::string next() {
    const auto end = std::chrono::steady_clock::now() + kLong;
    while (std::chrono::steady_clock::now() < end) {
      if (auto word = queue_->pop()) return word->what;
      queue_->wait(end);
    }
    return "nothing came";
  }

 private:
  struct Queue {
    void push(Finished finished) { EXPECT_TRUE(words.push(std::move(finished))); }
    std::optional<Finished> pop() { return words.pop(); }
    void wake() {
      std::lock_guard lock(mutex);
      fresh = true;
      changed.notify_one();
    }
    void wait(std::chrono::steady_clock::time_point end) {
      std::unique_lock lock(mutex);
      changed.wait_until(lock, end, [this] { return fresh; });
      fresh = false;
    }
    BoundedQueue<Finished> words{100};
    std::mutex mutex;
    std::condition_variable changed;
    bool fresh = false;
  };
  std::shared_ptr<Queue> queue_ = std::make_shared<Queue>();
};

// A server and a client, each with its loop on its own thread.
class NodeTest : public ::testing::Test {
 protected:
  using ServerLoop = ActorLoop<Server, int, int, Words>;
  using ClientLoop = ActorLoop<Client, NoJob, NoJob, Words>;

  void start_server() {
    serving_ = std::jthread(
        [this](std::stop_token stop) { server_loop_.run(stop, {.drain = From<Drain>{Peer{}, Drain{"stopping"}}}); });
  }
  void start_client() {
    asking_ = std::jthread([this](std::stop_token stop) { client_loop_.run(stop); });
  }

  MemoryHub hub_;
  Server server_;
  Client client_;
  Words server_words_, client_words_;
  std::unique_ptr<Transport> server_transport_ = hub_.open(1, "memory://server");
  std::unique_ptr<Transport> client_transport_ = hub_.open(2);
  std::binary_semaphore job_may_end_{1};
  ServerLoop server_loop_{server_, *server_transport_,
                          [this](int& job) -> Result<int> {
                            job_may_end_.acquire();
                            job_may_end_.release();
                            return job + 2;
                          },
                          server_words_};
  ClientLoop client_loop_{client_, *client_transport_, {}, client_words_};
  std::jthread serving_, asking_;
};

TEST_F(NodeTest, CarriesAMessageThroughAJobAndBack) {
  start_server();
  start_client();
  EXPECT_EQ(client_words_.next(), "42");
}

// Tells something, and then asks for a job.
struct Talker {
  using Event = std::variant<Woke, Ran<int, int>>;
  using Effect = std::variant<Run<int>, Finished>;
  void on(Event event, Time, std::vector<Effect>& effects) {
    if (std::holds_alternative<Woke>(event)) effects = {Effect(Finished{"a token"}), Effect(Run<int>{1})};
  }
  int counters() const { return 0; }
};

TEST(ActorLoop, BeginsAJobBeforeItTellsWhatCameWithIt) {
  MemoryHub hub;
  const std::unique_ptr<Transport> transport = hub.open(1);
  Talker talker;
  std::binary_semaphore begun{0};
  std::stop_source told;
  bool begun_first = false;
  const auto tell = [&](const Finished&) {
    begun_first = begun.try_acquire_for(kLong);
    told.request_stop();
  };
  const auto work = [&](int& job) -> Result<int> {
    begun.release();
    return job;
  };
  ActorLoop<Talker, int, int, std::function<void(const Finished&)>> loop(talker, *transport, work, tell);
  loop.run(told.get_token());
  EXPECT_TRUE(begun_first);
}

TEST_F(NodeTest, PublishesCountersBeforeItSleeps) {
  start_server();
  start_client();
  EXPECT_EQ(client_words_.next(), "42");
  const auto published = [this] { return server_loop_.counters() == 1 && server_loop_.loop_counters().transport.sent == 1; };
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!published() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_TRUE(published());
}

TEST_F(NodeTest, TellsHowLongItsJobHasRun) {
  start_server();
  job_may_end_.acquire();
  start_client();
  const auto soon = [](const auto& condition) {
    const auto end = std::chrono::steady_clock::now() + kLong;
    while (!condition() && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    return condition();
  };
  EXPECT_TRUE(soon([this] { return server_loop_.standstill().job >= 20ms; }));
  EXPECT_LT(server_loop_.standstill().loop, kLong) << "it turns while its job hangs";
  job_may_end_.release();
  EXPECT_EQ(client_words_.next(), "42");
  EXPECT_TRUE(soon([this] { return server_loop_.standstill().job == 0ms; }));
}

TEST_F(NodeTest, TakesLocalEventsFromOtherThreads) {
  start_server();
  start_client();
  ASSERT_TRUE(client_loop_.post(3));
  EXPECT_EQ(client_words_.next(), "42");
  EXPECT_EQ(server_words_.next(), "left");
}

TEST_F(NodeTest, RingsTheAlarmWhenItIsDue) {
  start_client();
  ASSERT_TRUE(client_loop_.post(2));
  EXPECT_EQ(client_words_.next(), "rang");
}

TEST_F(NodeTest, CallsAMessageForAnotherRoleMalformed) {
  start_server();
  start_client();
  EXPECT_EQ(client_words_.next(), "42");
  ASSERT_TRUE(client_loop_.post(1));
  EXPECT_EQ(server_words_.next(), "a message that this role does not take");
  EXPECT_EQ(server_loop_.loop_counters().undecodable, 0u);
}

TEST_F(NodeTest, CallsAFrameThatDoesNotDecodeMalformed) {
  auto stranger = hub_.open(9);
  stranger->connect(kServer, "memory://server");
  start_server();
  stranger->send(kServer, Frame{Boundary::control, std::vector<std::byte>(3)});
  EXPECT_EQ(server_words_.next(), "a message of 3 bytes: no multiple of 8");
  stranger.reset();
  EXPECT_EQ(server_words_.next(), "down");
}

TEST_F(NodeTest, DrainsWhenStopped) {
  start_server();
  start_client();
  EXPECT_EQ(client_words_.next(), "42");
  serving_.request_stop();
  EXPECT_EQ(client_words_.next(), "stopping");
}

TEST_F(NodeTest, GoesOnDrainingUntilItIsDone) {
  serving_ = std::jthread([this](std::stop_token stop) {
    const auto left = [](const Server& server) { return server.left; };
    server_loop_.run(stop, {.drain = From<Drain>{Peer{}, Drain{"stopping"}}, .grace = kLong, .done = left});
  });
  start_client();
  EXPECT_EQ(client_words_.next(), "42");
  serving_.request_stop();
  EXPECT_EQ(client_words_.next(), "stopping");
  ASSERT_TRUE(client_loop_.post(3));
  EXPECT_EQ(server_words_.next(), "left");
  serving_.join();
}

TEST_F(NodeTest, ShowsTheActorAsItIsBeforeItDrains) {
  std::vector<std::string> order;
  std::stop_source stopped;
  stopped.request_stop();
  client_loop_.run(stopped.get_token(),
                   {.drain = 2,  // sets an alarm
                    .done =
                        [&](const Client&) {
                          order.push_back("gave the words");
                          return true;
                        },
                    .on_stop = [&](const Client& client) { order.push_back("woken " + std::to_string(client.woken)); }});
  ASSERT_GE(order.size(), 2u);
  EXPECT_EQ(order[0], "woken 1");
  EXPECT_EQ(order[1], "gave the words");
}

// Whoever posted was told yes, and must be answered.
TEST_F(NodeTest, HearsWhatWasPostedBeforeItLeavesAndRefusesWhatComesAfter) {
  std::stop_source stopped;
  stopped.request_stop();
  ASSERT_TRUE(client_loop_.post(2));  // sets an alarm: an event that leaves a trace
  client_loop_.run(stopped.get_token(), {.drain = From<Drain>{Peer{}, Drain{"stopping"}}});
  EXPECT_EQ(client_loop_.loop_counters().events, 3u) << "Woke, the farewell, and what was posted";
  EXPECT_FALSE(client_loop_.post(2));
}

TEST_F(NodeTest, GoesOnDrainingForWhatWasPostedAtTheLastMoment) {
  std::stop_source stopped;
  stopped.request_stop();
  bool last_moment = true;
  const auto done = [&](const Client& client) {
    if (std::exchange(last_moment, false)) return client_loop_.post(2);  // sets an alarm
    return client.woken == 2;
  };
  client_loop_.run(stopped.get_token(), {.drain = 0, .grace = kLong, .done = done});
  EXPECT_EQ(client_.woken, 2) << "the alarm has rung";
}

TEST_F(NodeTest, SendsItsFinalEventWhenItsGraceEnds) {
  serving_ = std::jthread([this](std::stop_token stop) {
    server_loop_.run(stop, {.drain = From<Drain>{Peer{}, Drain{"stopping"}},
                            .grace = 1ms,
                            .done = [](const Server&) { return false; },
                            .final_event = From<Drain>{Peer{}, Drain{"stopped"}}});
  });
  start_client();
  EXPECT_EQ(client_words_.next(), "42");
  serving_.request_stop();
  EXPECT_EQ(client_words_.next(), "stopping");
  EXPECT_EQ(client_words_.next(), "stopped");
}

TEST_F(NodeTest, RefusesLocalEventsOverTheLimitAndCountsThem) {
  for (size_t n = 0; n < kInboxEventsMax; ++n) ASSERT_TRUE(client_loop_.post(0));
  EXPECT_FALSE(client_loop_.post(0));
  EXPECT_EQ(client_loop_.loop_counters().inbox_full, 1u);
}

}  // namespace
}  // namespace slipstream
