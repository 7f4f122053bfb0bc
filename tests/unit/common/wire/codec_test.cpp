#include "common/wire/codec.h"

#include <gtest/gtest.h>

#include "tests/unit/common/wire/random_message.h"

namespace slipstream::wire {
namespace {

using slipstream::testing::RandomMessage;

constexpr uint64_t kMessages = 3000;

TEST(Codec, GivesBackEveryControlMessage) {
  for (uint64_t seed = 0; seed < kMessages; ++seed) {
    const ControlMessage message = RandomMessage(seed).control();
    const auto decoded = decode_control(encode(message));
    ASSERT_TRUE(decoded) << decoded.error().message << " (seed " << seed << ")";
    ASSERT_EQ(*decoded, message) << "seed " << seed;
  }
}

TEST(Codec, GivesBackEveryGenerateMessage) {
  for (uint64_t seed = 0; seed < kMessages; ++seed) {
    const GenerateMessage message = RandomMessage(seed).generate();
    const auto decoded = decode_generate(encode(message));
    ASSERT_TRUE(decoded) << decoded.error().message << " (seed " << seed << ")";
    ASSERT_EQ(*decoded, message) << "seed " << seed;
  }
}

TEST(Codec, GivesBackEveryDraftMessage) {
  for (uint64_t seed = 0; seed < kMessages; ++seed) {
    const DraftMessage message = RandomMessage(seed).draft();
    const auto decoded = decode_draft(encode(message));
    ASSERT_TRUE(decoded) << decoded.error().message << " (seed " << seed << ")";
    ASSERT_EQ(*decoded, message) << "seed " << seed;
  }
}

// A drafter of commit 94afa7a sent these bytes. Hello had no draftModel then.
constexpr uint64_t kOlderHello[] = {
    0x0000001a00000000, 0x0001000100000000, 0x0000000000000001, 0x0007000300000000, 0x0000000000000005, 0x0000000000000001,
    0x0000000700000040, 0x0000000100000018, 0x0000000100000018, 0x0001000300000018, 0x0000000a00000029, 0x0000000e00000029,
    0x000000420000002d, 0x0000004a0000002d, 0x0000000000010001, 0x0000000000000000, 0x000000000000000b, 0x0000000000000000,
    0x0000000000000064, 0x0000000c00000001, 0x0000000000000002, 0x0000000000000000, 0x0000003200000001, 0x0000006d6172676e,
    0x00642f2f3a706374, 0x6d2f2f3a70747468, 0x0000000000000000};

TEST(Codec, TakesAHelloOfAReleaseThatNamedNoDraftModel) {
  const Hello hello{.role = Role::drafter,
                    .incarnation = 5,
                    .fingerprint = {.tokenizer = 11, .vocabulary = 100, .eos_ids = {2}},
                    .methods = {"ngram"},
                    .sequences_max = 64,
                    .draft_endpoint = "tcp://d",
                    .metrics_endpoint = "http://m",
                    .pid = 7};
  const auto decoded = decode_control(std::as_bytes(std::span(kOlderHello)));
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(std::get<Hello>(*decoded), hello);
}

TEST(Codec, AnAdvanceCarriesTheDraftersPartOfASpecAndAStartAllOfIt) {
  const GenerationSpec spec{.prompt_length = 2,
                            .sampling = {.temperature = 0.5F},
                            .logits_params = {.presence_penalty = 1},
                            .seed = 7,
                            .choice = 1,
                            .acceptance = {.rule = Rule::ratio},
                            .output_max = 9,
                            .stop_ids = {3},
                            .top_logprobs = 0,
                            .trees = 5};
  const auto advance = decode_draft(encode(DraftMessage(Advance{.tokens = {1, 2}, .info = spec})));
  ASSERT_TRUE(advance) << advance.error().message;
  EXPECT_EQ(std::get<Advance>(*advance).info, drafter_part(spec));
  EXPECT_NE(drafter_part(spec), spec);
  const auto start = decode_generate(encode(GenerateMessage(Start{.spec = spec, .tokens = {1, 2}})));
  ASSERT_TRUE(start) << start.error().message;
  EXPECT_EQ(std::get<Start>(*start).spec, spec);
}

TEST(Codec, DecodesAtAnyAlignment) {
  const DraftMessage message = Release{.sequence = {1, 2}, .epoch = 3};
  const Bytes bytes = encode(message);
  for (size_t shift = 0; shift < 8; ++shift) {
    Bytes moved(shift + bytes.size());
    std::ranges::copy(bytes, moved.begin() + static_cast<ptrdiff_t>(shift));
    const auto decoded = decode_draft(std::span(moved).subspan(shift));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, message);
  }
}

TEST(Codec, TakesAPromptOfTheGreatestLength) {
  Start start{.spec = {.prompt_length = kContextTokensMax}, .tokens = std::vector<TokenId>(kContextTokensMax, 7)};
  const Bytes bytes = encode(GenerateMessage(start));
  EXPECT_LE(bytes.size(), kControlFrameBytesMax);
  const auto decoded = decode_generate(bytes);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(std::get<Start>(*decoded), start);
}

TEST(Codec, TakesTheGreatestTreeAndAdvanceWithinADraftFrame) {
  Tree tree{.nodes = std::vector<TreeNode>(kTreeNodesMax)};
  Advance advance{.tokens = std::vector<TokenId>(kAdvanceTokensMax),
                  .info = GenerationSpec{},
                  .verdicts = std::vector<TokenId>(kTreeNodesMax + 1)};
  advance.tuning.reason = std::string(kTextBytesMax, 'r');
  LogitsParams& how = advance.info->logits_params;
  how = {.min_tokens = 1,
         .stop_ids = std::vector<TokenId>(kStopIdsMax),
         .bad_words = std::vector(kBadSequencesMax, std::vector<TokenId>(kBadWordTokensMax))};
  for (TokenId id = 0; id < kLogitBiasMax; ++id) how.bias.push_back({id, 1});
  for (TokenId id = 0; id < kAllowedTokensMax; ++id) how.allowed.push_back(id);
  for (const DraftMessage& message : {DraftMessage(tree), DraftMessage(advance)}) {
    const Bytes bytes = encode(message);
    EXPECT_LE(bytes.size(), kDraftFrameBytesMax);
    const auto decoded = decode_draft(bytes);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, message);
  }
}

TEST(Codec, TakesTheGreatestTokensWithinAFrame) {
  Tokens tokens{.ids = std::vector<TokenId>(kTokensPerMessageMax),
                .drafted = std::vector<uint8_t>(kTokensPerMessageMax),
                .depths = std::vector<uint8_t>(kTokensPerMessageMax),
                .reason = std::string(kTextBytesMax, 'r')};
  tokens.logprobs.assign(kTokensPerMessageMax, {.logprob = -1, .top = std::vector<Logprob>(kTopLogprobsMax)});
  const size_t without_trees = encode(GenerateMessage(tokens)).size();
  const Proposer proposer{std::string(kProposerBytesMax, 'p'), std::string(kProposerBytesMax, 'm')};
  for (int32_t i = 0; i < kTreeReportsMax; ++i) {
    tokens.trees.push_back({.first_index = i,
                            .proposers = std::vector<Proposer>(kProposersMax, proposer),
                            .nodes = std::vector<ReportedNode>(kTreeNodesMax)});
  }
  const Bytes bytes = encode(GenerateMessage(tokens));
  EXPECT_LE(bytes.size(), kControlFrameBytesMax);
  EXPECT_LE(bytes.size() - without_trees, kTreeReportsMax * kTreeReportBytesMax);
  const auto decoded = decode_generate(bytes);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(std::get<Tokens>(*decoded), tokens);
}

TEST(Codec, CutsALongReasonBetweenCharactersAndMendsItsBytes) {
  std::string reason = "\xFF";
  for (int n = 0; n < 600; ++n) reason += "é";
  const auto decoded = decode_control(encode(ControlMessage(Refuse{.reason = reason})));
  ASSERT_TRUE(decoded) << decoded.error().message;
  const std::string& arrived = std::get<Refuse>(*decoded).reason;
  EXPECT_EQ(arrived.front(), '?');
  EXPECT_EQ(arrived.size(), 1023u);  // 1 + 511 * 2: another é would not fit
}

TEST(Codec, RefusesNothingAtAll) {
  EXPECT_FALSE(decode_control({}));
  const Bytes zeros(64);
  EXPECT_FALSE(decode_control(zeros));
  EXPECT_FALSE(decode_generate(zeros));
  EXPECT_FALSE(decode_draft(zeros));
}

TEST(Codec, RefusesBytesAfterTheMessage) {
  Bytes bytes = encode(DraftMessage(Release{}));
  bytes.resize(bytes.size() + 8);
  EXPECT_FALSE(decode_draft(bytes));
}

TEST(Codec, RefusesAFrameOverItsLimit) {
  const Bytes bytes(kDraftFrameBytesMax + 8);
  const auto decoded = decode_draft(bytes);
  ASSERT_FALSE(decoded);
  EXPECT_NE(decoded.error().message.find("limit is 65536"), std::string::npos) << decoded.error().message;
}

// The union's tag is the first two bytes of the root's data: after the 8 bytes of the segment table
// and the root pointer.
constexpr size_t kTagAt = 16;

TEST(Codec, GivesAnUnknownTagBackAsUnknown) {
  Bytes draft = encode(DraftMessage(Release{}));
  draft[kTagAt] = std::byte(0x39);
  draft[kTagAt + 1] = std::byte(0x05);
  EXPECT_EQ(*decode_draft(draft), DraftMessage(Unknown{0x0539}));
  Bytes control = encode(ControlMessage(RouterHeartbeat{}));
  control[kTagAt] = std::byte(99);
  EXPECT_EQ(*decode_control(control), ControlMessage(Unknown{99}));
  Bytes generate = encode(GenerateMessage(Ack{}));
  generate[kTagAt] = std::byte(99);
  EXPECT_EQ(*decode_generate(generate), GenerateMessage(Unknown{99}));
}

TEST(CodecDeathTest, AbortsOnAMessageOverOurOwnLimits) {
  const DraftMessage message = Tree{.nodes = std::vector<TreeNode>(kTreeNodesMax + 1)};
  EXPECT_DEATH((void)encode(message), "Tree.nodes has 64 entries, the limit is 63");
}

}  // namespace
}  // namespace slipstream::wire
