#include "tests/e2e/scripted/mischief.h"

#include <cstring>
#include <limits>
#include <utility>

#include "common/wire/codec.h"

namespace slipstream {
namespace {

using Frames = std::vector<Frame>;

Frame framed(Tree tree) { return {Boundary::draft, wire::encode(DraftMessage(std::move(tree)))}; }
Frames one(Tree tree) {
  Frames frames;
  frames.push_back(framed(std::move(tree)));
  return frames;
}
Frames raw(Boundary boundary, wire::Bytes bytes) {
  Frames frames;
  frames.push_back({boundary, std::move(bytes)});
  return frames;
}
TokenId any_token(MischiefContext& context) {
  return std::uniform_int_distribution<TokenId>(0, context.vocabulary - 1)(context.random);
}
// Our own encoder refuses what is out of bounds, so that goes in as a mark and is overwritten in the bytes.
template <class T>
Frames with_mark(const DraftMessage& message, T mark, T wanted) {
  wire::Bytes bytes = wire::encode(message);
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    if (std::memcmp(&bytes[at], &mark, sizeof(T)) == 0) std::memcpy(&bytes[at], &wanted, sizeof(T));
  }
  return raw(Boundary::draft, std::move(bytes));
}
Frames with_first_survival(Tree tree, float wanted) {
  constexpr float kMark = 0.123456F;
  tree.nodes.front() = {.token = tree.nodes.front().token, .survival = kMark};
  return with_mark(DraftMessage(std::move(tree)), kMark, wanted);
}
Frames with_first(Tree tree, const TreeNode& node) {
  tree.nodes.front() = node;
  return one(std::move(tree));
}

// ---- Frames that are no messages -------------------------------------------------------------------------------------------

Frames garbage(Tree, MischiefContext& context) {
  wire::Bytes bytes(512);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(context.random());
  return raw(Boundary::draft, std::move(bytes));
}
Frames empty_frame(Tree, MischiefContext&) { return raw(Boundary::draft, {}); }
Frames half_a_frame(Tree tree, MischiefContext&) {
  wire::Bytes bytes = framed(std::move(tree)).bytes;
  bytes.resize(bytes.size() / 2);
  return raw(Boundary::draft, std::move(bytes));
}
Frames odd_length(Tree tree, MischiefContext&) {
  wire::Bytes bytes = framed(std::move(tree)).bytes;
  bytes.resize(bytes.size() - 3);
  return raw(Boundary::draft, std::move(bytes));
}
Frames flipped_bits(Tree tree, MischiefContext& context) {
  wire::Bytes bytes = framed(std::move(tree)).bytes;
  for (int i = 0; i < 8; ++i) bytes[context.random() % bytes.size()] ^= static_cast<std::byte>(1 << (i % 8));
  return raw(Boundary::draft, std::move(bytes));
}
Frames all_ones(Tree tree, MischiefContext&) {  // a segment table that promises the world
  return raw(Boundary::draft, wire::Bytes(framed(std::move(tree)).bytes.size(), std::byte{0xFF}));
}
Frames too_large(Tree tree, MischiefContext&) {
  wire::Bytes bytes = framed(std::move(tree)).bytes;
  bytes.resize(kDraftFrameBytesMax + 8);
  return raw(Boundary::draft, std::move(bytes));
}
Frames wrong_boundary(Tree tree, MischiefContext&) { return raw(Boundary::generate, framed(std::move(tree)).bytes); }
Frames no_boundary(Tree tree, MischiefContext&) { return raw(static_cast<Boundary>(77), framed(std::move(tree)).bytes); }

// ---- Messages that a drafter does not send ---------------------------------------------------------------------------------

Frames a_verifiers_message(Tree tree, MischiefContext&) {
  return raw(Boundary::draft, wire::encode(DraftMessage(Release{tree.fence.sequence, tree.fence.epoch})));
}
Frames a_workers_message(Tree, MischiefContext&) {
  return raw(Boundary::control, wire::encode(ControlMessage(Leaving{.incarnation = 1, .reason = "no reason"})));
}
Frames resync_from_nowhere(Tree tree, MischiefContext&) {
  const Fence& fence = tree.fence;
  return raw(Boundary::draft, wire::encode(DraftMessage(Resync{fence.sequence, fence.epoch, fence.round, kContextTokensMax})));
}
Frames resync_of_less_than_nothing(Tree tree, MischiefContext&) {
  constexpr int32_t kMark = 31337;
  const Fence& fence = tree.fence;
  return with_mark<int32_t>(Resync{fence.sequence, fence.epoch, fence.round, kMark}, kMark, -1);
}

// ---- Nodes that are no tree ------------------------------------------------------------------------------------------------

Frames its_own_parent(Tree tree, MischiefContext& context) {
  return with_first(std::move(tree), {.token = any_token(context), .parent = 0});
}
Frames a_later_parent(Tree tree, MischiefContext& context) {
  tree.nodes = {{any_token(context), 1, 0.5F}, {any_token(context), kRoot, 0.5F}};
  return one(std::move(tree));
}
Frames a_ring(Tree tree, MischiefContext& context) {
  tree.nodes = {{any_token(context), 2, 0.5F}, {any_token(context), 0, 0.5F}, {any_token(context), 1, 0.5F}};
  return one(std::move(tree));
}
Frames a_parent_outside(Tree tree, MischiefContext& context) {
  return with_first(std::move(tree), {.token = any_token(context), .parent = 1000});
}
Frames a_parent_before_the_root(Tree tree, MischiefContext& context) {
  return with_first(std::move(tree), {.token = any_token(context), .parent = -2});
}
Frames equal_siblings(Tree tree, MischiefContext& context) {
  const TokenId token = any_token(context);
  tree.nodes = {{token, kRoot, 0.5F}, {token, kRoot, 0.4F}};
  return one(std::move(tree));
}
Frames a_token_past_the_vocabulary(Tree tree, MischiefContext& context) {
  return with_first(std::move(tree), {.token = context.vocabulary});
}
Frames a_negative_token(Tree tree, MischiefContext&) { return with_first(std::move(tree), {.token = -1}); }
Frames a_survival_that_is_no_number(Tree tree, MischiefContext&) {
  return with_first_survival(std::move(tree), std::numeric_limits<float>::quiet_NaN());
}
Frames a_survival_past_one(Tree tree, MischiefContext&) { return with_first_survival(std::move(tree), 2.0F); }
Frames a_survival_below_nothing(Tree tree, MischiefContext&) { return with_first_survival(std::move(tree), -0.5F); }
Frames a_child_surer_than_its_parent(Tree tree, MischiefContext& context) {
  tree.nodes = {{any_token(context), kRoot, 0.2F}, {any_token(context), 0, 0.9F}};
  return one(std::move(tree));
}
Frames too_deep(Tree tree, MischiefContext& context) {
  tree.nodes.clear();
  for (int i = 0; i < kTreeNodesMax; ++i) tree.nodes.push_back({any_token(context), i - 1, 0.5F});
  return one(std::move(tree));
}
// The word before a list of structs carries its length, shifted by two bits.
Frames more_nodes_than_there_are(Tree tree, MischiefContext&) {
  tree.nodes.resize(kTreeNodesMax, {.parent = kRoot});
  return with_mark<uint32_t>(DraftMessage(std::move(tree)), kTreeNodesMax << 2, 4096 << 2);
}

// As many nodes again in the same space: the word before the list also says how many words each has.
Frames twice_as_many_nodes_as_allowed(Tree tree, MischiefContext&) {
  tree.nodes.resize(kTreeNodesMax, {.parent = kRoot});
  constexpr uint64_t kMark = (uint64_t{2} << 32) | (kTreeNodesMax << 2);
  return with_mark<uint64_t>(DraftMessage(std::move(tree)), kMark, (uint64_t{1} << 32) | (kTreeNodesMax << 3));
}

// ---- Trees that are not asked for ------------------------------------------------------------------------------------------

Frames wider_than_asked(Tree tree, MischiefContext& context) {
  tree.nodes.clear();
  for (int i = 0; i < kTreeNodesMax; ++i)
    tree.nodes.push_back({(any_token(context) / 64 * 64 + i) % context.vocabulary, kRoot, 0.5F});
  return one(std::move(tree));
}
Frames of_an_older_round(Tree tree, MischiefContext&) {
  --tree.fence.round;
  return one(std::move(tree));
}
Frames of_a_later_round(Tree tree, MischiefContext&) {
  ++tree.fence.round;
  return one(std::move(tree));
}
Frames of_another_epoch(Tree tree, MischiefContext&) {
  tree.fence.epoch += 5;
  return one(std::move(tree));
}
Frames of_another_prefix(Tree tree, MischiefContext&) {
  tree.fence.prefix_hash ^= 1;
  return one(std::move(tree));
}
Frames of_a_shorter_base(Tree tree, MischiefContext&) {
  --tree.fence.base_length;
  return one(std::move(tree));
}
Frames of_a_longer_base(Tree tree, MischiefContext&) {  // parked until the commit gets there, where its hash is wrong
  tree.fence.base_length += 2;
  return one(std::move(tree));
}
Frames of_the_longest_base(Tree tree, MischiefContext&) {
  tree.fence.base_length = kContextTokensMax;
  return one(std::move(tree));
}
Frames of_an_unknown_sequence(Tree tree, MischiefContext& context) {
  tree.fence.sequence.counter = context.random();
  return one(std::move(tree));
}
Frames of_another_tuning(Tree tree, MischiefContext&) {
  tree.tuning_version += 1000;
  return one(std::move(tree));
}
Frames twice(Tree tree, MischiefContext&) {
  Frames frames = one(tree);
  frames.push_back(framed(std::move(tree)));
  return frames;
}
Frames a_hundred_times(Tree tree, MischiefContext&) {
  Frames frames;
  for (int i = 0; i < 100; ++i) frames.push_back(framed(tree));
  return frames;
}
Frames nothing_without_a_reason(Tree tree, MischiefContext&) {
  tree.nodes.clear();
  return one(std::move(tree));
}
Frames nodes_and_a_reason_for_none(Tree tree, MischiefContext&) {
  tree.no_nodes = NoNodes::leaving;
  return one(std::move(tree));
}
Frames silence(Tree, MischiefContext&) { return {}; }
Frames the_honest_tree(Tree tree, MischiefContext&) { return one(std::move(tree)); }

#define SLIPSTREAM_NAMED(function) \
  Mischief { #function, function }
constexpr Mischief kMischief[] = {
    SLIPSTREAM_NAMED(garbage),
    SLIPSTREAM_NAMED(empty_frame),
    SLIPSTREAM_NAMED(half_a_frame),
    SLIPSTREAM_NAMED(odd_length),
    SLIPSTREAM_NAMED(flipped_bits),
    SLIPSTREAM_NAMED(all_ones),
    SLIPSTREAM_NAMED(too_large),
    SLIPSTREAM_NAMED(wrong_boundary),
    SLIPSTREAM_NAMED(no_boundary),
    SLIPSTREAM_NAMED(a_verifiers_message),
    SLIPSTREAM_NAMED(a_workers_message),
    SLIPSTREAM_NAMED(resync_from_nowhere),
    SLIPSTREAM_NAMED(resync_of_less_than_nothing),
    SLIPSTREAM_NAMED(its_own_parent),
    SLIPSTREAM_NAMED(a_later_parent),
    SLIPSTREAM_NAMED(a_ring),
    SLIPSTREAM_NAMED(a_parent_outside),
    SLIPSTREAM_NAMED(a_parent_before_the_root),
    SLIPSTREAM_NAMED(equal_siblings),
    SLIPSTREAM_NAMED(a_token_past_the_vocabulary),
    SLIPSTREAM_NAMED(a_negative_token),
    SLIPSTREAM_NAMED(a_survival_that_is_no_number),
    SLIPSTREAM_NAMED(a_survival_past_one),
    SLIPSTREAM_NAMED(a_survival_below_nothing),
    SLIPSTREAM_NAMED(a_child_surer_than_its_parent),
    SLIPSTREAM_NAMED(too_deep),
    SLIPSTREAM_NAMED(more_nodes_than_there_are),
    SLIPSTREAM_NAMED(twice_as_many_nodes_as_allowed),
    SLIPSTREAM_NAMED(wider_than_asked),
    SLIPSTREAM_NAMED(of_an_older_round),
    SLIPSTREAM_NAMED(of_a_later_round),
    SLIPSTREAM_NAMED(of_another_epoch),
    SLIPSTREAM_NAMED(of_another_prefix),
    SLIPSTREAM_NAMED(of_a_shorter_base),
    SLIPSTREAM_NAMED(of_a_longer_base),
    SLIPSTREAM_NAMED(of_the_longest_base),
    SLIPSTREAM_NAMED(of_an_unknown_sequence),
    SLIPSTREAM_NAMED(of_another_tuning),
    SLIPSTREAM_NAMED(twice),
    SLIPSTREAM_NAMED(a_hundred_times),
    SLIPSTREAM_NAMED(nothing_without_a_reason),
    SLIPSTREAM_NAMED(nodes_and_a_reason_for_none),
    SLIPSTREAM_NAMED(silence),
    SLIPSTREAM_NAMED(the_honest_tree),
};
#undef SLIPSTREAM_NAMED

}  // namespace

std::span<const Mischief> all_mischief() { return kMischief; }

}  // namespace slipstream
