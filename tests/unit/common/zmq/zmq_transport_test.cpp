#include "common/zmq/zmq_transport.h"

#include <filesystem>
#include <thread>

#include <gtest/gtest.h>

#include "common/zmq/envelope.h"
#include "common/zmq/zmq_socket.h"

namespace slipstream {
namespace {

using namespace std::chrono_literals;

constexpr Peer kServer{1};
constexpr Incarnation kServerLife = 1001, kClientLife = 77;
constexpr auto kLong = 20s;

Frame frame(char c, Boundary boundary = Boundary::draft) { return {boundary, {std::byte(c)}}; }

std::unique_ptr<ZmqTransport> open(Incarnation self, std::optional<std::string> bind = std::nullopt) {
  auto transport = ZmqTransport::open({.self = self, .bind = std::move(bind)});
  EXPECT_TRUE(transport) << transport.error().message;
  return *std::move(transport);
}

// The next event, which must be of this kind.
template <class E>
E expect(Transport& transport) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (std::chrono::steady_clock::now() < end) {
    auto event = transport.next(100ms);
    if (!event) continue;
    if (std::holds_alternative<E>(*event)) return std::get<E>(*std::move(event));
    ADD_FAILURE() << "another event: " << event->index();
    return E{};
  }
  ADD_FAILURE() << "no event";
  return E{};
}

struct Pair {
  std::unique_ptr<ZmqTransport> server = open(kServerLife, "tcp://127.0.0.1:0");
  std::unique_ptr<ZmqTransport> client = open(kClientLife);
  Peer peer;  // the client, as the server calls it
  Pair() {
    client->connect(kServer, server->bound_endpoint());
    EXPECT_EQ(expect<PeerUp>(*client).peer, kServer);
    client->send(kServer, frame('a'));
    peer = expect<PeerUp>(*server).peer;
    expect<FrameFrom>(*server);
  }
};

TEST(ZmqTransport, CarriesFramesBothWays) {
  Pair pair;
  EXPECT_EQ(pair.peer, incoming_peer(kClientLife));
  pair.server->send(pair.peer, frame('b', Boundary::generate));
  const auto answer = expect<FrameFrom>(*pair.client);
  EXPECT_EQ(answer.peer, kServer);
  EXPECT_EQ(answer.frame.boundary, Boundary::generate);
  EXPECT_EQ(answer.frame.bytes, frame('b').bytes);
  EXPECT_EQ(pair.client->counters().sent, 1u);
  EXPECT_EQ(pair.client->counters().received, 1u);
}

TEST(ZmqTransport, ConnectsBeforeTheOtherSideIsThereAndAgainAfterItsDeath) {
  std::string endpoint;
  {
    auto server = open(kServerLife, "tcp://127.0.0.1:0");
    endpoint = server->bound_endpoint();
  }
  auto client = open(kClientLife);
  client->connect(kServer, endpoint);
  client->send(kServer, frame('a'));
  EXPECT_EQ(client->counters().dropped_gone, 1u);
  auto server = open(kServerLife, endpoint);
  EXPECT_EQ(expect<PeerUp>(*client).peer, kServer);
  server.reset();
  EXPECT_EQ(expect<PeerDown>(*client).peer, kServer);
  server = open(kServerLife + 1, endpoint);
  EXPECT_EQ(expect<PeerUp>(*client).peer, kServer);
  client->send(kServer, frame('c'));
  expect<PeerUp>(*server);
  EXPECT_EQ(expect<FrameFrom>(*server).frame.bytes, frame('c').bytes) << "what was sent to nobody must not come later";
}

TEST(ZmqTransport, TellsTheServerWhenAClientDies) {
  Pair pair;
  pair.client.reset();
  EXPECT_EQ(expect<PeerDown>(*pair.server).peer, pair.peer);
  pair.server->send(pair.peer, frame('b'));
  EXPECT_EQ(pair.server->counters().dropped_gone, 1u);
}

TEST(ZmqTransport, HearsALastMessageBeforeTheEnd) {
  for (int n = 0; n < 20; ++n) {
    Pair pair;
    pair.client->send(kServer, frame('z'));
    pair.client->close(1s);
    pair.client.reset();
    EXPECT_EQ(expect<FrameFrom>(*pair.server).frame.bytes, frame('z').bytes);
    EXPECT_EQ(expect<PeerDown>(*pair.server).peer, pair.peer);
  }
}

TEST(ZmqTransport, TheNewestConnectionOfAnIncarnationCounts) {
  Pair pair;
  auto again = open(kClientLife);
  again->connect(kServer, pair.server->bound_endpoint());
  expect<PeerUp>(*again);
  again->send(kServer, frame('n'));
  EXPECT_EQ(expect<PeerDown>(*pair.server).peer, pair.peer);
  EXPECT_EQ(expect<PeerUp>(*pair.server).peer, pair.peer);
  expect<FrameFrom>(*pair.server);
  pair.server->send(pair.peer, frame('m'));
  EXPECT_EQ(expect<FrameFrom>(*again).frame.bytes, frame('m').bytes);
}

TEST(ZmqTransport, DropsAndCountsWhenAPeerDoesNotRead) {
  Pair pair;
  for (int n = 0; n < 200; ++n) {  // far more than both high-water marks and the kernel hold
    for (int k = 0; k < 100; ++k) {
      pair.client->send(kServer, Frame{Boundary::generate, std::vector<std::byte>(kDraftFrameBytesMax)});
    }
    if (pair.client->counters().dropped_full > 0) break;
  }
  EXPECT_GT(pair.client->counters().dropped_full, 0u);
  EXPECT_EQ(pair.client->counters().dropped_gone, 0u);
}

TEST(ZmqTransport, NothingComesFromAPeerAfterDisconnect) {
  Pair pair;
  pair.server->disconnect(pair.peer);
  pair.client->send(kServer, frame('x'));
  EXPECT_FALSE(pair.server->next(200ms));
  pair.client->disconnect(kServer);
  EXPECT_FALSE(pair.client->next(50ms));
  pair.client->connect(kServer, pair.server->bound_endpoint());
  expect<PeerUp>(*pair.client);
  pair.client->send(kServer, frame('y'));
  EXPECT_EQ(expect<PeerUp>(*pair.server).peer, pair.peer) << "a new connection is heard again";
}

TEST(ZmqTransport, WakesASleeper) {
  auto transport = open(kClientLife);
  std::jthread other([&] { transport->wake(); });
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(transport->next(kLong));
  EXPECT_LT(std::chrono::steady_clock::now() - began, kLong);
}

TEST(ZmqTransport, KeepsAWakeUpForTheSleepAfterALook) {
  auto transport = open(kClientLife);
  transport->wake();
  EXPECT_FALSE(transport->next(std::chrono::microseconds(0)));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(transport->next(kLong));
  EXPECT_LT(std::chrono::steady_clock::now() - began, kLong);
  EXPECT_FALSE(transport->next(std::chrono::microseconds(1)));
}

TEST(ZmqTransport, CarriesFramesOverIpv6) {
  if (!std::filesystem::exists("/proc/net/if_inet6")) GTEST_SKIP() << "this machine has no IPv6";
  auto server = open(kServerLife, "tcp://[::1]:0");
  EXPECT_TRUE(server->bound_endpoint().starts_with("tcp://[::1]:")) << server->bound_endpoint();
  auto client = open(kClientLife);
  client->connect(kServer, server->bound_endpoint());
  EXPECT_EQ(expect<PeerUp>(*client).peer, kServer);
  client->send(kServer, frame('a'));
  const Peer peer = expect<PeerUp>(*server).peer;
  expect<FrameFrom>(*server);
  server->send(peer, frame('b'));
  EXPECT_EQ(expect<FrameFrom>(*client).peer, kServer);
}

TEST(ZmqTransport, WaitsNoLessThanAsked) {
  auto transport = open(kClientLife);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(transport->next(1500us));
  EXPECT_GE(std::chrono::steady_clock::now() - began, 1500us);
}

TEST(ZmqTransport, RefusesToListenBeyondThisHost) {
  for (const char* endpoint : {"tcp://0.0.0.0:7070", "tcp://10.0.0.1:7070", "tcp://0127.0.0.1:7070", "tcp://[::]:7070"}) {
    const auto transport = ZmqTransport::open({.self = 1, .bind = endpoint});
    ASSERT_FALSE(transport);
    EXPECT_NE(transport.error().message.find("slipstream keys new"), std::string::npos) << transport.error().message;
  }
  for (const char* endpoint :
       {"ipc:///x", "tcp://127.0.0.1", "tcp://*:7070", "tcp://127.0.0.1:99999", "tcp://127.0.0.1:7x", "", "tcp://"}) {
    EXPECT_FALSE(ZmqTransport::open({.self = 1, .bind = endpoint})) << endpoint;
  }
}

TEST(ZmqTransport, SaysThatAPortIsTaken) {
  auto first = open(1, "tcp://127.0.0.1:0");
  const auto second = ZmqTransport::open({.self = 2, .bind = first->bound_endpoint()});
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find("in use by another process"), std::string::npos) << second.error().message;
}

TEST(ZmqTransport, ConnectsToNothingButTcpOnThisHost) {
  auto transport = open(kClientLife);
  uint64_t name = 1;
  for (const char* endpoint :
       {"ipc:///x", "inproc://monitor-1", "tcp://10.0.0.1:1", "tcp://127.0.0.1:0", "tcp://;:1", "nonsense"}) {
    transport->connect(Peer{++name}, endpoint);
    EXPECT_EQ(expect<Malformed>(*transport).peer, Peer{name}) << endpoint;
  }
}

// A peer that speaks ZeroMQ but not our envelope.
class Stranger {
 public:
  explicit Stranger(const std::string& endpoint) {
    socket_.set(ZMQ_LINGER, 0);
    EXPECT_TRUE(socket_.connect(endpoint));
  }
  void say(std::initializer_list<std::string> parts) {
    size_t left = parts.size();
    for (const std::string& part : parts) {
      EXPECT_GE(zmq_send(socket_.get(), part.data(), part.size(), --left > 0 ? ZMQ_SNDMORE : 0), 0);
    }
  }

 private:
  zmq::Context context_;
  zmq::Socket socket_{context_, ZMQ_DEALER};
};

std::string envelope(char version = 1, char boundary = 2, char incarnation = 5) {
  return std::string("SL") + version + boundary + incarnation + std::string(7, '\0');
}

TEST(ZmqTransport, CountsWhatHasNoEnvelopeAndGoesOn) {
  auto server = open(kServerLife, "tcp://127.0.0.1:0");
  Stranger stranger(server->bound_endpoint());
  stranger.say({"garbage"});
  stranger.say({""});
  stranger.say({"a", "b", "c", "d"});
  stranger.say({envelope(2), "wrong version"});
  stranger.say({envelope(1, 3), "wrong boundary"});
  stranger.say({envelope(1, 2, 0), "nobody"});
  stranger.say({envelope(), "at last"});
  EXPECT_EQ(expect<PeerUp>(*server).peer, incoming_peer(5));
  expect<FrameFrom>(*server);
  EXPECT_EQ(server->counters().malformed, 6u);
}

TEST(ZmqTransport, BlamesAKnownPeerForEachMalformedMessage) {
  auto server = open(kServerLife, "tcp://127.0.0.1:0");
  Stranger stranger(server->bound_endpoint());
  stranger.say({envelope(), "hello"});
  expect<PeerUp>(*server);
  expect<FrameFrom>(*server);
  stranger.say({envelope(), "one", "two", "three"});
  EXPECT_EQ(expect<Malformed>(*server).peer, incoming_peer(5));
  stranger.say({envelope()});
  EXPECT_EQ(expect<Malformed>(*server).peer, incoming_peer(5));
  stranger.say({envelope(1, 2, 6), "another name"});
  EXPECT_EQ(expect<Malformed>(*server).peer, incoming_peer(5));
  stranger.say({envelope(), std::string(kDraftFrameBytesMax + 1, 'x')});
  EXPECT_EQ(expect<Malformed>(*server).peer, incoming_peer(5));
  EXPECT_EQ(server->counters().malformed, 4u);
  stranger.say({envelope(), "still heard"});
  expect<FrameFrom>(*server);
}

TEST(ZmqTransport, CutsAConnectionThatSendsAnOversizedFrame) {
  auto server = open(kServerLife, "tcp://127.0.0.1:0");
  Stranger stranger(server->bound_endpoint());
  stranger.say({envelope(), "hello"});
  expect<PeerUp>(*server);
  expect<FrameFrom>(*server);
  stranger.say({envelope(), std::string(kControlFrameBytesMax + 1, 'x')});
  EXPECT_EQ(expect<PeerDown>(*server).peer, incoming_peer(5));
}

TEST(Envelope, IsTwelveBytesLowestFirst) {
  const auto bytes = pack({Boundary::draft, 0x0123456789ABCDEF});
  const std::array<int, kEnvelopeBytes> wanted{'S', 'L', 1, 2, 0xEF, 0xCD, 0xAB, 0x89, 0x67, 0x45, 0x23, 0x01};
  for (size_t n = 0; n < kEnvelopeBytes; ++n) EXPECT_EQ(static_cast<int>(bytes[n]), wanted[n]);
  EXPECT_EQ(*unpack(bytes), (Envelope{Boundary::draft, 0x0123456789ABCDEF}));
}

// An end that ZeroMQ wants to tell while we close the link must not find a monitor that nobody
// reads: its I/O thread, and with it every other link, would wait for ever.
TEST(ZmqTransport, KeepsItsOtherLinksWhenOneIsCutFromBothSidesAtOnce) {
  Pair pair;
  constexpr Peer kHostile{2};
  for (int life = 0; life < 50; ++life) {
    auto hostile = open(static_cast<Incarnation>(2000 + life), "tcp://127.0.0.1:0");
    pair.client->connect(kHostile, hostile->bound_endpoint());
    expect<PeerUp>(*pair.client);
    std::jthread dies([&] { hostile.reset(); });
    for (int i = 0; i < 20; ++i) pair.client->send(kHostile, {Boundary::draft, std::vector<std::byte>(60'000)});
    pair.client->disconnect(kHostile);
  }
  pair.client->send(kServer, frame('z'));
  EXPECT_EQ(expect<FrameFrom>(*pair.server).frame.bytes, frame('z').bytes);
}

// However many frames come before it: as many as one look takes were once followed by nothing.
TEST(ZmqTransport, HearsTheEndAfterAnyNumberOfFrames) {
  for (int frames = 60; frames <= 68; ++frames) {
    Pair pair;
    for (int n = 0; n < frames; ++n) pair.client->send(kServer, frame('b'));
    pair.client->close(1s);
    pair.client.reset();
    for (int n = 0; n < frames; ++n) expect<FrameFrom>(*pair.server);
    const auto began = std::chrono::steady_clock::now();
    ASSERT_TRUE(pair.server->next(kLong)) << frames;
    EXPECT_LT(std::chrono::steady_clock::now() - began, kLong / 2) << frames;
  }
}

// libzmq aborted here while ZMQ_IMMEDIATE was on: a connection's end took the second frame of a
// message whose first was read.
TEST(ZmqTransport, SurvivesPeersThatDieAmidWhatTheySend) {
  auto server = open(1, "tcp://127.0.0.1:0");
  const std::string endpoint = server->bound_endpoint();
  auto client = open(kClientLife);
  client->connect(kServer, endpoint);
  uint64_t frames = 0;
  for (Incarnation life = 2; life < 12; ++life) {
    expect<PeerUp>(*client);
    client->send(kServer, frame('a'));
    const Peer peer = expect<PeerUp>(*server).peer;
    for (int n = 0; n < 200; ++n) server->send(peer, frame('b'));
    std::jthread dies([&] { server.reset(); });
    for (auto event = client->next(kLong); event && !std::holds_alternative<PeerDown>(*event); event = client->next(kLong))
      ++frames;
    dies.join();
    server = open(life, endpoint);
  }
  EXPECT_GT(frames, 0u);
}

}  // namespace
}  // namespace slipstream
