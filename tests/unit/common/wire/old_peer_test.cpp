// What an older release of version 1 sends: it fills fields that are reserved today.
#include <functional>

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>

#include "common/wire/codec.h"
#include "common/wire/schema/control.capnp.h"
#include "common/wire/schema/draft.capnp.h"
#include "common/wire/schema/generate.capnp.h"

namespace slipstream::wire {
namespace {

template <class Top>
Bytes built(const std::function<void(typename Top::Builder)>& fill) {
  capnp::MallocMessageBuilder builder;
  fill(builder.initRoot<Top>());
  const auto words = capnp::messageToFlatArray(builder);
  const auto bytes = std::as_bytes(std::span(words.asBytes().begin(), words.asBytes().size()));
  return Bytes(bytes.begin(), bytes.end());
}

void need_all(schema::Needs::Builder needs) {
  needs.setFeatures(true);
  needs.setProbabilities(true);
}

TEST(OldPeer, ItsHelloHeartbeatAndLeavingAreRead) {
  const auto hello = decode_control(built<schema::Control>([](auto top) {
    auto to = top.initHello();
    to.setIncarnation(7);
    need_all(to.initNeeds());
  }));
  ASSERT_TRUE(hello) << hello.error().message;
  EXPECT_EQ(std::get<Hello>(*hello).incarnation, 7U);
  const auto heartbeat = decode_control(built<schema::Control>([](auto top) {
    auto to = top.initWorkerHeartbeat();
    to.setIncarnation(7);
    to.setSteps(3);
  }));
  ASSERT_TRUE(heartbeat) << heartbeat.error().message;
  EXPECT_EQ(std::get<WorkerHeartbeat>(*heartbeat), WorkerHeartbeat{.steps = 3});
  const auto leaving = decode_control(built<schema::Control>([](auto top) { top.initLeaving().setIncarnation(7); }));
  ASSERT_TRUE(leaving) << leaving.error().message;
  EXPECT_EQ(std::get<Leaving>(*leaving), Leaving{});
}

TEST(OldPeer, ItsAttachedIsReadWhateverItNeeds) {
  const auto attached = decode_draft(built<schema::Draft>([](auto top) {
    auto to = top.initAttached();
    to.setDrafter(7);
    to.setMethod("ngram");
    need_all(to.initNeeds());
  }));
  ASSERT_TRUE(attached) << attached.error().message;
  EXPECT_EQ(std::get<Attached>(*attached).method, "ngram");
}

TEST(OldPeer, ItsFeaturesAreAnUnknownTag) {
  const auto features = decode_draft(built<schema::Draft>([](auto top) { top.initFeatures().initFence().setBaseLength(-1); }));
  ASSERT_TRUE(features) << features.error().message;
  EXPECT_EQ(*features, DraftMessage(Unknown{4}));
}

// It has one tuning for all drafters of a sequence. Here each has its own, and one without does not
// draft: the sequence is decoded plainly.
TEST(OldPeer, ItsAssignIsReadAndItsDraftersDoNotDraft) {
  const auto assign = decode_generate(built<schema::Generate>([](auto top) {
    auto to = top.initAssign();
    to.setVersion(3);
    to.initDrafters(1)[0].setEndpoint("tcp://drafter");
    to.initTuning().setNodesMax(8);
  }));
  ASSERT_TRUE(assign) << assign.error().message;
  ASSERT_EQ(std::get<Assign>(*assign).drafters.size(), 1U);
  EXPECT_EQ(std::get<Assign>(*assign).drafters[0].endpoint, "tcp://drafter");
  EXPECT_EQ(std::get<Assign>(*assign).drafters[0].tuning.nodes_max, 0);
}

}  // namespace
}  // namespace slipstream::wire
