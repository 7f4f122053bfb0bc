// What a peer that follows the schema but not the limits, or neither, can send.
#include <cstring>
#include <functional>
#include <limits>

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <gtest/gtest.h>

#include "common/wire/codec.h"
#include "common/wire/schema/control.capnp.h"
#include "common/wire/schema/draft.capnp.h"
#include "common/wire/schema/generate.capnp.h"
#include "tests/unit/common/wire/random_message.h"

namespace slipstream::wire {
namespace {

using slipstream::testing::RandomMessage;

template <class Top>
Bytes built(const std::function<void(typename Top::Builder)>& fill) {
  capnp::MallocMessageBuilder builder;
  fill(builder.initRoot<Top>());
  const auto words = capnp::messageToFlatArray(builder);
  const auto bytes = std::as_bytes(std::span(words.asBytes().begin(), words.asBytes().size()));
  return Bytes(bytes.begin(), bytes.end());
}

template <class Decoded>
void expect_refused(const Decoded& decoded, std::string_view why) {
  ASSERT_FALSE(decoded);
  EXPECT_NE(decoded.error().message.find(why), std::string::npos) << decoded.error().message;
}

// A Tree that decodes, to be spoilt in one place.
void good_tree(schema::Draft::Builder top, unsigned nodes = 1) {
  auto list = top.initTree().initNodes(nodes);
  for (auto node : list) node.setSurvival(0.5F);
}

TEST(HostileFrames, AListOneOverItsLimitIsRefused) {
  expect_refused(decode_draft(built<schema::Draft>([](auto top) { good_tree(top, kTreeNodesMax + 1); })), "Tree.nodes");
  expect_refused(decode_draft(built<schema::Draft>([](auto top) { top.initAdvance().initTokens(kAdvanceTokensMax + 1); })),
                 "Advance.tokens");
  expect_refused(decode_draft(built<schema::Draft>([](auto top) { top.initAdvance().initVerdicts(kTreeNodesMax + 2); })),
                 "Advance.verdicts");
  expect_refused(
      decode_draft(built<schema::Draft>([](auto top) { top.initAttach().initFingerprint().initEosIds(kStopIdsMax + 1); })),
      "Fingerprint.eosIds");
  expect_refused(decode_generate(built<schema::Generate>([](auto top) { top.initStart().initTokens(kContextTokensMax + 1); })),
                 "Start.tokens");
  expect_refused(decode_generate(built<schema::Generate>([](auto top) { top.initStart().initStopIds(kStopIdsMax + 1); })),
                 "Start.stopIds");
  expect_refused(
      decode_generate(built<schema::Generate>([](auto top) { top.initStart().initDrafters(kDraftersPerSequenceMax + 1); })),
      "Start.drafters");
  expect_refused(decode_generate(built<schema::Generate>([](auto top) { top.initTokens().initIds(kTokensPerMessageMax + 1); })),
                 "Tokens.ids");
  expect_refused(
      decode_generate(built<schema::Generate>([](auto top) { top.initTokens().initDrafted(kTokensPerMessageMax + 1); })),
      "Tokens.drafted");
  expect_refused(
      decode_generate(built<schema::Generate>([](auto top) { top.initTokens().initDepths(kTokensPerMessageMax + 1); })),
      "Tokens.depths");
  expect_refused(decode_control(built<schema::Control>([](auto top) { top.initHello().initMethods(kMethodsMax + 1); })),
                 "Hello.methods");
}

// What must be there so that a Start or an Advance is refused for nothing else.
template <class Sequence>
Sequence sound(Sequence sequence) {
  sequence.initSampling().setTopP(1);
  auto acceptance = sequence.initAcceptance();
  acceptance.setRootChildren(1);
  acceptance.setChildren(1);
  return sequence;
}
schema::Start::Builder good_start(schema::Generate::Builder top) {
  auto start = sound(top.initStart());
  start.setLeaseMs(kLeaseMsMin);
  return start;
}

// Of both boundaries that carry them.
void expect_refused_logits_params(const std::function<void(schema::LogitsParams::Builder)>& fill, std::string_view why) {
  expect_refused(decode_generate(built<schema::Generate>([&](auto top) { fill(good_start(top).initLogitsParams()); })), why);
  expect_refused(
      decode_draft(built<schema::Draft>([&](auto top) { fill(sound(top.initAdvance().initInfo()).initLogitsParams()); })), why);
}

TEST(HostileFrames, AdjustmentsOverTheirLimitsAreRefused) {
  expect_refused_logits_params([](auto to) { to.initStopIds(kStopIdsMax + 1); }, "LogitsParams.stopIds");
  expect_refused_logits_params([](auto to) { to.initLogitBias(kLogitBiasMax + 1); }, "LogitsParams.logitBias");
  expect_refused_logits_params([](auto to) { to.initAllowedIds(kAllowedTokensMax + 1); }, "LogitsParams.allowedIds");
  expect_refused_logits_params([](auto to) { to.initBadWords(kBadSequencesMax + 1); }, "LogitsParams.badWords");
  expect_refused_logits_params([](auto to) { to.initBadWords(1).init(0, kBadWordTokensMax + 1); }, "LogitsParams.badWords");
  expect_refused_logits_params([](auto to) { to.initBadWords(1).init(0, 0); }, "no tokens");
}

TEST(HostileFrames, AdjustmentsOutOfRangeOrOrderAreRefused) {
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(), 0.0F, -1.0F, 1e3F}) {
    expect_refused_logits_params([&](auto to) { to.setRepetitionPenalty(bad); }, "repetitionPenalty");
  }
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), 2.5F, -2.5F}) {
    expect_refused_logits_params([&](auto to) { to.setPresencePenalty(bad); }, "presencePenalty");
    expect_refused_logits_params([&](auto to) { to.setFrequencyPenalty(bad); }, "frequencyPenalty");
  }
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), 100.5F, -101.0F}) {
    expect_refused_logits_params([&](auto to) { to.initLogitBias(1)[0].setBias(bad); }, "LogitBias.bias");
  }
  expect_refused_logits_params([](auto to) { to.setMinTokens(-1); }, "minTokens");
  expect_refused_logits_params([](auto to) { to.initLogitBias(1)[0].setId(-1); }, "LogitBias.id");
  expect_refused_logits_params([](auto to) { to.initLogitBias(2); }, "ascend");
  expect_refused_logits_params([](auto to) { to.initAllowedIds(2); }, "ascend");
  expect_refused_logits_params([](auto to) { to.initAllowedIds(1).set(0, -1); }, "negative");
}

TEST(HostileFrames, ReportsOfTreesOverTheirLimitsAreRefused) {
  const auto refused = [](const std::function<void(schema::TreeReport::Builder)>& fill, std::string_view why) {
    expect_refused(decode_generate(built<schema::Generate>([&](auto top) {
                     auto tokens = top.initTokens();
                     tokens.initIds(1);
                     tokens.initDrafted(1);
                     tokens.initDepths(1);
                     fill(tokens.initTrees(1)[0]);
                   })),
                   why);
  };
  refused([](auto to) { to.initNodes(kTreeNodesMax + 1); }, "TreeReport.nodes");
  refused([](auto to) { to.initProposers(kProposersMax + 1); }, "TreeReport.proposers");
  refused([](auto to) { to.initProposers(1)[0].setMethod(std::string(kProposerBytesMax + 1, 'x')); }, "Proposer.method");
  refused([](auto to) { to.initNodes(1)[0].setFate(static_cast<schema::NodeFate>(9)); }, "ReportedNode.fate");
  refused([](auto to) { to.initNodes(1)[0].setParent(0); }, "ReportedNode.parent");
  expect_refused(decode_generate(built<schema::Generate>([](auto top) { top.initTokens().initTrees(kTreeReportsMax + 1); })),
                 "Tokens.trees");
  expect_refused(decode_generate(built<schema::Generate>([](auto top) { good_start(top).setTrees(kTreeReportsMax + 1); })),
                 "trees is 65");
}

TEST(HostileFrames, LogprobsOverTheirLimitsOrNoneAreRefused) {
  const auto refused = [](const std::function<void(schema::TokenLogprob::Builder)>& fill, std::string_view why) {
    expect_refused(decode_generate(built<schema::Generate>([&](auto top) {
                     auto tokens = top.initTokens();
                     tokens.initIds(1);
                     tokens.initDrafted(1);
                     tokens.initDepths(1);
                     fill(tokens.initLogprobs(1)[0]);
                   })),
                   why);
  };
  refused([](auto to) { to.initTop(kTopLogprobsMax + 1); }, "TokenLogprob.top");
  refused([](auto to) { to.initTop(1)[0].setId(-1); }, "Logprob.id");
  refused([](auto to) { to.setRank(-1); }, "TokenLogprob.rank");
  for (float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity(), 0.5F}) {
    refused([&](auto to) { to.setLogprob(bad); }, "logprob");
    refused([&](auto to) { to.initTop(1)[0].setLogprob(bad); }, "logprob");
  }
  expect_refused(
      decode_generate(built<schema::Generate>([](auto top) { top.initTokens().initLogprobs(kTokensPerMessageMax + 1); })),
      "Tokens.logprobs");
  expect_refused(decode_generate(built<schema::Generate>([](auto top) { top.initTokens().initLogprobs(1); })), "beside 0 ids");
  expect_refused(decode_generate(built<schema::Generate>([](auto top) { good_start(top).setLogprobs(kTopLogprobsMax + 2); })),
                 "topLogprobs");
}

TEST(HostileFrames, TextOverItsLimitOrNotUtf8IsRefused) {
  const std::string text(kTextBytesMax + 1, 'x');
  expect_refused(decode_control(built<schema::Control>([&](auto top) { top.initRefuse().setReason(text); })), "Refuse.reason");
  for (const char* bad : {"\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE6\xBC", "ok \xFF"}) {
    expect_refused(decode_control(built<schema::Control>([&](auto top) { top.initDrain().setReason(bad); })), "UTF-8");
  }
  const kj::StringPtr nul("a\0b", 3);
  expect_refused(decode_control(built<schema::Control>([&](auto top) { top.initDrain().setReason(nul); })), "UTF-8");
}

TEST(HostileFrames, ANumberThatIsNoneOrOutOfRangeIsRefused) {
  for (float bad : {-0.5F, 1.5F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    expect_refused(decode_draft(built<schema::Draft>([&](auto top) { top.initTree().initNodes(1)[0].setSurvival(bad); })),
                   "survival");
    expect_refused(decode_draft(built<schema::Draft>([&](auto top) { top.initAdvance().initTuning().setThreshold(bad); })),
                   "threshold");
    expect_refused(decode_generate(built<schema::Generate>(
                       [&](auto top) { top.initAssign().initDrafters(1)[0].initTuning().setThreshold(bad); })),
                   "threshold");
    expect_refused(decode_control(built<schema::Control>([&](auto top) { top.initWorkerHeartbeat().setBusy(bad); })), "busy");
    expect_refused(decode_generate(built<schema::Generate>([&](auto top) { top.initStart().initSampling().setTopP(bad); })),
                   "topP");
  }
}

TEST(HostileFrames, ATreeOfARequestLargerThanAnyIsRefused) {
  expect_refused(
      decode_generate(built<schema::Generate>([](auto top) { good_start(top).setDraftNodesMax(kTreeNodesMax + 1); })),
      "Start.draftNodesMax");
  expect_refused(
      decode_generate(built<schema::Generate>([](auto top) { good_start(top).setDraftDepthMax(kTreeDepthMax + 1); })),
      "Start.draftDepthMax");
}

TEST(HostileFrames, AnEnumBeyondTheLastIsRefused) {
  const auto role = static_cast<schema::Role>(2);
  expect_refused(decode_control(built<schema::Control>([&](auto top) { top.initHello().setRole(role); })), "Hello.role");
  const auto reason = static_cast<schema::NoNodes>(4);
  expect_refused(decode_draft(built<schema::Draft>([&](auto top) { top.initTree().setNoNodes(reason); })), "Tree.noNodes");
  const auto finish = static_cast<schema::Finish>(5);
  expect_refused(decode_generate(built<schema::Generate>([&](auto top) { top.initTokens().setFinish(finish); })),
                 "Tokens.finish");
}

TEST(HostileFrames, NegativeLengthsAndIdsAreRefused) {
  expect_refused(decode_draft(built<schema::Draft>([](auto top) { top.initTree().initFence().setBaseLength(-1); })),
                 "baseLength");
  expect_refused(decode_draft(built<schema::Draft>([](auto top) { top.initAdvance().initTokens(1).set(0, -1); })), "negative");
  expect_refused(decode_draft(built<schema::Draft>([](auto top) { top.initAdvance().initVerdicts(2).set(1, -2); })),
                 "below -1");
  expect_refused(decode_draft(built<schema::Draft>([](auto top) { top.initAdvance().setRootVerdict(-2); })), "below -1");
  expect_refused(decode_generate(built<schema::Generate>([](auto top) { top.initAck().setNextIndex(-kContextTokensMax); })),
                 "nextIndex");
}

TEST(HostileFrames, VerdictsAreOnATreeWithNodesOrOnOneWithout) {
  expect_refused(decode_draft(built<schema::Draft>([](auto top) { top.initAdvance().initVerdicts(1); })),
                 "verdicts has 1 entry");
  expect_refused(decode_draft(built<schema::Draft>([](auto top) {
                   top.initAdvance().setRootVerdict(5);
                   top.getAdvance().initVerdicts(2);
                 })),
                 "rootVerdict stands beside verdicts");
}

TEST(HostileFrames, FlagsThatDoNotPairWithTokensAreRefused) {
  expect_refused(decode_generate(built<schema::Generate>([](auto top) { top.initTokens().initIds(2); })), "Tokens.drafted");
}

TEST(HostileFrames, LogprobsOfAPromptThatCannotBeAreRefused) {
  const auto tokens = [](int32_t first, unsigned logprobs, unsigned ids = 0) {
    return decode_generate(built<schema::Generate>([=](auto top) {
      auto tokens = top.initTokens();
      tokens.setFirstIndex(first);
      tokens.initLogprobs(logprobs);
      tokens.initIds(ids);
      tokens.initDrafted(ids);
      tokens.initDepths(ids);
    }));
  };
  EXPECT_TRUE(tokens(-kPromptTokensPerMessageMax, kPromptTokensPerMessageMax));
  expect_refused(tokens(-3, 4), "from index -3 on");
  expect_refused(tokens(-3, 2, 2), "before output index 0");
  expect_refused(tokens(-1000, kPromptTokensPerMessageMax + 1), "the limit is 256");
  expect_refused(tokens(-kContextTokensMax, 0), "firstIndex");
}

TEST(HostileFrames, DraftDepthsThatFitNoTokenAreRefused) {
  const auto token = [](bool drafted, std::optional<int> depth) {
    return decode_generate(built<schema::Generate>([=](auto top) {
      auto tokens = top.initTokens();
      tokens.initIds(1);
      tokens.initDrafted(1).set(0, drafted);
      if (depth) tokens.initDepths(1).set(0, static_cast<uint8_t>(*depth));
    }));
  };
  EXPECT_TRUE(token(true, kTreeDepthMax));
  expect_refused(token(true, std::nullopt), "Tokens.depths");
  expect_refused(token(true, 0), "Tokens.depths");
  expect_refused(token(false, kTreeDepthMax + 1), "Tokens.depths");
}

TEST(HostileFrames, AListOfAPointerLoopIsRefused) {
  Bytes bytes = built<schema::Draft>([](auto top) { good_tree(top); });
  for (size_t at = 8; at + 8 <= bytes.size(); at += 8) {  // every word in turn becomes a list pointer to itself
    Bytes loop = bytes;
    const uint64_t pointer = 0xFFFFFFFFull << 32 | 0xFFFFFFFDull;
    std::memcpy(loop.data() + at, &pointer, sizeof pointer);
    (void)decode_draft(loop);  // refused, or harmless: never a crash
  }
}

Bytes mutate(Bytes bytes, RandomMessage& random) {
  for (int edits = 1 + random.below(4); edits > 0 && !bytes.empty(); --edits) {
    const auto at = static_cast<size_t>(random.below(static_cast<int>(bytes.size())));
    switch (random.below(5)) {
      case 0:
        bytes[at] ^= std::byte(1u << random.below(8));
        break;
      case 1:
        bytes[at] = std::byte(random.below(256));
        break;
      case 2:
        bytes.resize(random.below(4) == 0 ? at : at & ~7u);
        break;
      case 3: {  // another word, or an extreme one
        const uint64_t word = random.below(2) == 0 ? random.u64() : ~0ull >> random.below(40);
        const size_t whole = at & ~7u;
        if (whole + 8 <= bytes.size()) std::memcpy(bytes.data() + whole, &word, sizeof word);
        break;
      }
      default:
        bytes.insert(bytes.end(), bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(at));
        break;
    }
  }
  return bytes;
}

// Whatever still decodes can be encoded again and reads the same: nothing slips past the limits.
template <class Decode>
void expect_safe(const Bytes& bytes, Decode decode, int& decoded_count) {
  const auto decoded = decode(bytes);
  if (!decoded) return;
  ++decoded_count;
  using Message = std::decay_t<decltype(*decoded)>;
  if (std::holds_alternative<Unknown>(*decoded)) return;
  const auto again = decode(encode(Message(*decoded)));
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_EQ(*again, *decoded);
}

TEST(HostileFrames, MutatedFramesNeverCrashAndNeverPassALimit) {
  constexpr uint64_t kFrames = 3000;
  constexpr int kMutationsPerFrame = 10;
  int decoded = 0;
  for (uint64_t seed = 0; seed < kFrames; ++seed) {
    RandomMessage random(seed);
    const Bytes control = encode(random.control()), generate = encode(random.generate()), draft = encode(random.draft());
    for (int n = 0; n < kMutationsPerFrame; ++n) {
      ASSERT_NO_FATAL_FAILURE(expect_safe(mutate(control, random), decode_control, decoded)) << "seed " << seed;
      ASSERT_NO_FATAL_FAILURE(expect_safe(mutate(generate, random), decode_generate, decoded)) << "seed " << seed;
      ASSERT_NO_FATAL_FAILURE(expect_safe(mutate(draft, random), decode_draft, decoded)) << "seed " << seed;
    }
  }
  EXPECT_GT(decoded, 1000) << "mutations must also reach the code behind the first check";
}

TEST(HostileFrames, EveryTruncationIsRefused) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    const Bytes bytes = encode(RandomMessage(seed).draft());
    for (size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(decode_draft(std::span(bytes).first(size)));
  }
}

TEST(HostileFrames, RandomBytesAreRefusedOrHarmless) {
  RandomMessage random(1);
  for (int n = 0; n < 20000; ++n) {
    Bytes bytes(static_cast<size_t>(8 * random.below(40)));
    for (std::byte& byte : bytes) byte = std::byte(random.below(256));
    if (random.below(2) == 0 && bytes.size() >= 8) {  // a valid segment table, so that the root is reached
      const uint64_t table = (bytes.size() / 8 - 1) << 32;
      std::memcpy(bytes.data(), &table, sizeof table);
    }
    (void)decode_control(bytes);
    (void)decode_generate(bytes);
    (void)decode_draft(bytes);
  }
}

}  // namespace
}  // namespace slipstream::wire
