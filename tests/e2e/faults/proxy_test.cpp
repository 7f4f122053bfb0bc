// The proxy between two of the product's own transports: what each side sees of the other.
#include "tests/e2e/faults/proxy.h"

#include <sys/eventfd.h>

#include <thread>

#include <gtest/gtest.h>

#include "common/zmq/zmq_transport.h"

namespace slipstream::faults {
namespace {

using namespace std::chrono_literals;

constexpr Peer kServer{1};
constexpr Incarnation kClient = 5;
constexpr auto kInVain = 20s;

class ProxyTest : public testing::Test {
 protected:
  ~ProxyTest() override {
    eventfd_write(stop_.fd(), 1);
    if (loop_.joinable()) loop_.join();
  }

  void start(Weather weather, Time cut_every = Time(0)) {
    Socket listener = *listen_at({"127.0.0.1", 0});
    door_ = bound_endpoint(listener)->tcp();
    proxy_.emplace(std::move(listener), ProxyPlan{*parse_endpoint(server_->bound_endpoint()), weather, cut_every, 1});
    loop_ = std::jthread([this] {
      const auto began = std::chrono::steady_clock::now();
      const auto now = [&] { return std::chrono::duration_cast<Time>(std::chrono::steady_clock::now() - began); };
      while (!proxy_->step(stop_.fd(), now)) continue;
    });
    client_->connect(kServer, door_);
  }

  static std::unique_ptr<ZmqTransport> open(Incarnation self, std::optional<std::string> bind = std::nullopt) {
    return *ZmqTransport::open({.self = self, .bind = std::move(bind)});
  }
  static Frame frame(size_t bytes, std::byte fill = std::byte{1}) {
    return {Boundary::generate, std::vector<std::byte>(bytes, fill)};
  }

  // The next event of this kind; others are passed over.
  template <class E>
  static std::optional<E> await(Transport& transport) {
    const auto deadline = std::chrono::steady_clock::now() + kInVain;
    while (std::chrono::steady_clock::now() < deadline) {
      const auto event = transport.next(50ms);
      if (!event) continue;
      if (const E* wanted = std::get_if<E>(&*event)) return *wanted;
    }
    return std::nullopt;
  }

  std::unique_ptr<ZmqTransport> server_ = open(9, "tcp://127.0.0.1:0"), client_ = open(kClient);
  std::string door_;
  std::optional<Proxy> proxy_;
  Socket stop_{eventfd(0, EFD_CLOEXEC)};
  std::jthread loop_;
};

TEST_F(ProxyTest, PassesOnWhatBothSay) {
  start({});
  ASSERT_TRUE(await<PeerUp>(*client_));
  for (const size_t bytes : {size_t{1}, size_t{300}, kControlFrameBytesMax}) {
    client_->send(kServer, frame(bytes));
    const auto heard = await<FrameFrom>(*server_);
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->peer, incoming_peer(kClient));
    EXPECT_EQ(heard->frame.bytes, frame(bytes).bytes);
    server_->send(heard->peer, frame(bytes, std::byte{2}));
    const auto answer = await<FrameFrom>(*client_);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->frame.bytes, frame(bytes, std::byte{2}).bytes);
  }
}

TEST_F(ProxyTest, LosesMessagesAndNoConnection) {
  start({.loss = 0.5});
  ASSERT_TRUE(await<PeerUp>(*client_));
  int heard = 0;
  for (int sent = 0; heard < 20; ++sent) {
    ASSERT_LT(sent, 1000);
    client_->send(kServer, frame(10));
    for (auto event = server_->next(10ms); event; event = server_->next(0ms)) {
      EXPECT_FALSE(std::holds_alternative<PeerDown>(*event));
      heard += std::holds_alternative<FrameFrom>(*event);
    }
  }
}

TEST_F(ProxyTest, TellsTheEndOfTheOneToTheOther) {
  start({});
  ASSERT_TRUE(await<PeerUp>(*client_));
  client_->send(kServer, frame(10));
  ASSERT_TRUE(await<FrameFrom>(*server_));
  client_->send(kServer, frame(20));
  client_->disconnect(kServer);
  const auto last = await<FrameFrom>(*server_);
  ASSERT_TRUE(last) << "what was said before arrives";
  EXPECT_EQ(last->frame.bytes.size(), 20U);
  EXPECT_TRUE(await<PeerDown>(*server_));
}

TEST_F(ProxyTest, TellsTheEndOfTheUpstream) {
  start({});
  ASSERT_TRUE(await<PeerUp>(*client_));
  server_->close(0ms);
  EXPECT_TRUE(await<PeerDown>(*client_));
}

TEST_F(ProxyTest, CutsConnectionsThatThenComeAgain) {
  start({}, 20ms);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(await<PeerUp>(*client_));
    ASSERT_TRUE(await<PeerDown>(*client_));
  }
}

}  // namespace
}  // namespace slipstream::faults
