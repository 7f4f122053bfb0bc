#include "common/zmq/incoming_peers.h"

#include <gtest/gtest.h>

namespace slipstream {
namespace {

constexpr Incarnation kAlice = 5, kBob = 6;

// "up 5, down 5": peers by incarnation.
std::string told(IncomingPeers::Events& events) {
  std::string text;
  for (const auto& event : std::exchange(events, {})) {
    if (!text.empty()) text += ", ";
    const auto name = [](Peer peer) { return std::to_string(peer.id & ~kIncomingPeer); };
    if (const auto* up = std::get_if<PeerUp>(&event)) text += "up " + name(up->peer);
    if (const auto* down = std::get_if<PeerDown>(&event)) text += "down " + name(down->peer);
  }
  return text;
}

class IncomingPeersTest : public ::testing::Test {
 protected:
  IncomingPeers peers_;
  IncomingPeers::Events events_;
};

TEST_F(IncomingPeersTest, AnEndIsToldWhenAllBeforeItHasBeenRead) {
  peers_.accepted(12, events_);
  EXPECT_EQ(peers_.sender("c1", 12, kAlice, events_), incoming_peer(kAlice));
  peers_.disconnected(12);
  EXPECT_TRUE(peers_.sender("c1", 12, kAlice, events_)) << "a farewell";
  peers_.settle(events_);
  EXPECT_EQ(told(events_), "up 5, down 5");
  EXPECT_FALSE(peers_.sender("c1", 12, kAlice, events_)) << "nothing after the end";
}

TEST_F(IncomingPeersTest, AFileDescriptorUsedAgainEndsItsFormerConnectionOnly) {
  peers_.accepted(12, events_);
  peers_.sender("c1", 12, kAlice, events_);
  peers_.disconnected(12);
  peers_.accepted(12, events_);
  EXPECT_EQ(told(events_), "up 5, down 5");
  peers_.sender("c2", 12, kBob, events_);
  peers_.settle(events_);
  EXPECT_EQ(told(events_), "up 6");
}

TEST_F(IncomingPeersTest, AConnectionThatEndedBeforeItsFirstFrameWasReadEndsToo) {
  peers_.accepted(12, events_);
  peers_.disconnected(12);
  peers_.sender("c1", 12, kAlice, events_);
  peers_.settle(events_);
  EXPECT_EQ(told(events_), "up 5, down 5");
}

TEST_F(IncomingPeersTest, AFileDescriptorUsedAgainBeforeItsFirstFrameWasReadIsItsLatestSenders) {
  peers_.accepted(7, events_);
  peers_.disconnected(7);
  peers_.accepted(7, events_);
  peers_.sender("c1", 7, kAlice, events_);  // sent before its end
  peers_.sender("c2", 7, kBob, events_);
  EXPECT_EQ(told(events_), "up 5, down 5, up 6");
  peers_.disconnected(7);
  peers_.settle(events_);
  EXPECT_EQ(told(events_), "down 6");
}

TEST_F(IncomingPeersTest, OfTwoOnOneFileDescriptorTheLivingIsTheOneThatGoesOnSpeaking) {
  peers_.sender("c2", 7, kBob, events_);
  peers_.sender("c1", 7, kAlice, events_);  // sent before its end, read late
  EXPECT_TRUE(peers_.sender("c2", 7, kBob, events_));
  EXPECT_EQ(told(events_), "up 6, down 6, up 5, down 5, up 6");
}

TEST_F(IncomingPeersTest, TheNewestConnectionOfAPeerCounts) {
  peers_.sender("c1", 12, kAlice, events_);
  peers_.sender("c2", 13, kAlice, events_);
  EXPECT_EQ(told(events_), "up 5, down 5, up 5");
  EXPECT_EQ(*peers_.connection_of(incoming_peer(kAlice)), "c2");
  peers_.disconnected(12);
  peers_.settle(events_);
  EXPECT_EQ(told(events_), "");
}

TEST_F(IncomingPeersTest, AConnectionKeepsItsName) {
  peers_.sender("c1", 12, kAlice, events_);
  EXPECT_FALSE(peers_.sender("c1", 12, kBob, events_));
  EXPECT_EQ(peers_.peer_of("c1"), incoming_peer(kAlice));
}

TEST_F(IncomingPeersTest, AnIgnoredPeerIsHeardAgainOnANewConnection) {
  peers_.sender("c1", 12, kAlice, events_);
  peers_.ignore(incoming_peer(kAlice));
  EXPECT_FALSE(peers_.sender("c1", 12, kAlice, events_));
  EXPECT_TRUE(peers_.sender("c2", 13, kAlice, events_));
  EXPECT_EQ(told(events_), "up 5, up 5");
}

}  // namespace
}  // namespace slipstream
