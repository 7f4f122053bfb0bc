#include "common/runtime/memory_transport.h"

#include <thread>

#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr Peer kServer{1};
constexpr Incarnation kClientLife = 77;
constexpr auto kLong = std::chrono::seconds(5);

Frame frame(char c) { return {Boundary::draft, {std::byte(c)}}; }

template <class E>
E expect(Transport& transport) {
  auto event = transport.next(kLong);
  if (event && std::holds_alternative<E>(*event)) return std::get<E>(*std::move(event));
  ADD_FAILURE() << "another event, or none";
  return E{};
}

TEST(MemoryTransport, CarriesFramesBothWays) {
  MemoryHub hub;
  auto server = hub.open(1, "memory://server");
  auto client = hub.open(kClientLife);
  client->connect(kServer, "memory://server");
  EXPECT_EQ(expect<PeerUp>(*client).peer, kServer);
  client->send(kServer, frame('a'));
  const Peer peer = expect<PeerUp>(*server).peer;
  EXPECT_EQ(peer, incoming_peer(kClientLife));
  const auto asked = expect<FrameFrom>(*server);
  EXPECT_EQ(asked.peer, peer);
  EXPECT_EQ(asked.frame.bytes, frame('a').bytes);
  server->send(peer, frame('b'));
  EXPECT_EQ(expect<FrameFrom>(*client).frame.bytes, frame('b').bytes);
}

TEST(MemoryTransport, ConnectsBeforeTheOtherSideIsThereAndAgainAfterItsDeath) {
  MemoryHub hub;
  auto client = hub.open(kClientLife);
  client->connect(kServer, "memory://server");
  client->send(kServer, frame('a'));
  EXPECT_EQ(client->counters().dropped_gone, 1u);
  auto server = hub.open(1, "memory://server");
  EXPECT_EQ(expect<PeerUp>(*client).peer, kServer);
  server.reset();
  EXPECT_EQ(expect<PeerDown>(*client).peer, kServer);
  server = hub.open(2, "memory://server");
  EXPECT_EQ(expect<PeerUp>(*client).peer, kServer);
}

TEST(MemoryTransport, TellsTheServerWhenAClientDies) {
  MemoryHub hub;
  auto server = hub.open(1, "memory://server");
  auto client = hub.open(kClientLife);
  client->connect(kServer, "memory://server");
  client->send(kServer, frame('a'));
  client.reset();
  const Peer peer = expect<PeerUp>(*server).peer;
  expect<FrameFrom>(*server);
  EXPECT_EQ(expect<PeerDown>(*server).peer, peer);
  server->send(peer, frame('b'));
  EXPECT_EQ(server->counters().dropped_gone, 1u);
}

TEST(MemoryTransport, DropsAndCountsAtTheHighWaterMark) {
  MemoryHub hub;
  auto server = hub.open(1, "memory://server");
  auto client = hub.open(kClientLife);
  client->connect(kServer, "memory://server");
  for (int n = 0; n < kSocketHighWaterMessages + 3; ++n) client->send(kServer, frame('a'));
  EXPECT_EQ(client->counters().sent, static_cast<uint64_t>(kSocketHighWaterMessages));
  EXPECT_EQ(client->counters().dropped_full, 3u);
}

TEST(MemoryTransport, WakesASleeper) {
  MemoryHub hub;
  auto transport = hub.open(1);
  std::jthread other([&] { transport->wake(); });
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(transport->next(kLong));
  EXPECT_LT(std::chrono::steady_clock::now() - began, kLong);
}

TEST(MemoryTransport, KeepsAWakeUpForTheSleepAfterALook) {
  MemoryHub hub;
  auto transport = hub.open(1);
  transport->wake();
  EXPECT_FALSE(transport->next(std::chrono::microseconds(0)));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_FALSE(transport->next(kLong));
  EXPECT_LT(std::chrono::steady_clock::now() - began, kLong);
  EXPECT_FALSE(transport->next(std::chrono::microseconds(1)));
}

TEST(MemoryTransport, RefusesAFrameOverTheLimitOfItsBoundary) {
  MemoryHub hub;
  auto server = hub.open(1, "memory://server");
  auto client = hub.open(kClientLife);
  client->connect(kServer, "memory://server");
  client->send(kServer, {Boundary::draft, std::vector<std::byte>(kDraftFrameBytesMax + 1)});
  expect<PeerUp>(*server);
  EXPECT_EQ(expect<Malformed>(*server).peer, incoming_peer(kClientLife));
  EXPECT_EQ(server->counters().malformed, 1u);
}

}  // namespace
}  // namespace slipstream
