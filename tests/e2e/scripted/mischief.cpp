#include "tests/e2e/scripted/mischief.h"

#include <cstring>
#include <limits>
#include <utility>

#include "common/zmq/envelope.h"

namespace slipstream {
namespace {

using Parcels = std::vector<Parcel>;

wire::Bytes encoded(Tree tree) { return wire::encode(DraftMessage(std::move(tree))); }
wire::Bytes envelope(const MischiefContext& context, Boundary boundary = Boundary::draft) {
  const auto bytes = pack({boundary, context.self});
  return {bytes.begin(), bytes.end()};
}
Parcels raw(const MischiefContext& context, wire::Bytes bytes, Boundary boundary = Boundary::draft) {
  return {{envelope(context, boundary), std::move(bytes)}};
}
Parcels one(const MischiefContext& context, Tree tree) { return raw(context, encoded(std::move(tree))); }
TokenId any_token(MischiefContext& context) {
  return std::uniform_int_distribution<TokenId>(0, context.vocabulary - 1)(context.random);
}
// Our own encoder refuses what is out of bounds, so that goes in as a mark and is overwritten in
// the bytes.
template <class T>
Parcels with_mark(const MischiefContext& context, const DraftMessage& message, T mark, T wanted) {
  wire::Bytes bytes = wire::encode(message);
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    if (std::memcmp(&bytes[at], &mark, sizeof(T)) == 0) std::memcpy(&bytes[at], &wanted, sizeof(T));
  }
  return raw(context, std::move(bytes));
}
Parcels with_first_survival(const MischiefContext& context, Tree tree, float wanted) {
  constexpr float kMark = 0.123456F;
  tree.nodes.front() = {.token = tree.nodes.front().token, .survival = kMark};
  return with_mark(context, DraftMessage(std::move(tree)), kMark, wanted);
}
Parcels with_first(const MischiefContext& context, Tree tree, const TreeNode& node) {
  tree.nodes.front() = node;
  return one(context, std::move(tree));
}

// ---- Envelopes that are none
// ----------------------------------------------------------------------------------------------

Parcels with_envelope_byte(const MischiefContext& context, Tree tree, size_t at) {
  wire::Bytes head = envelope(context);
  head[at] ^= std::byte{0x40};
  return {{std::move(head), encoded(std::move(tree))}};
}
Parcels another_protocol(Tree tree, MischiefContext& context) { return with_envelope_byte(context, std::move(tree), 0); }
Parcels another_version(Tree tree, MischiefContext& context) { return with_envelope_byte(context, std::move(tree), 2); }
Parcels another_sender(Tree tree, MischiefContext& context) { return with_envelope_byte(context, std::move(tree), 4); }
Parcels a_short_envelope(Tree tree, MischiefContext& context) {
  wire::Bytes head = envelope(context);
  head.pop_back();
  return {{std::move(head), encoded(std::move(tree))}};
}
Parcels no_envelope(Tree tree, MischiefContext&) { return {{encoded(std::move(tree))}}; }
Parcels only_an_envelope(Tree, MischiefContext& context) { return {{envelope(context)}}; }
Parcels a_third_frame(Tree tree, MischiefContext& context) {
  return {{envelope(context), encoded(std::move(tree)), wire::Bytes(8)}};
}

// ---- Frames that are no messages
// -------------------------------------------------------------------------------------------

Parcels garbage(Tree, MischiefContext& context) {
  wire::Bytes bytes(512);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(context.random());
  return raw(context, std::move(bytes));
}
Parcels empty_frame(Tree, MischiefContext& context) { return raw(context, {}); }
Parcels half_a_frame(Tree tree, MischiefContext& context) {
  wire::Bytes bytes = encoded(std::move(tree));
  bytes.resize(bytes.size() / 2);
  return raw(context, std::move(bytes));
}
Parcels odd_length(Tree tree, MischiefContext& context) {
  wire::Bytes bytes = encoded(std::move(tree));
  bytes.resize(bytes.size() - 3);
  return raw(context, std::move(bytes));
}
Parcels flipped_bits(Tree tree, MischiefContext& context) {
  wire::Bytes bytes = encoded(std::move(tree));
  for (int i = 0; i < 8; ++i) bytes[context.random() % bytes.size()] ^= static_cast<std::byte>(1 << (i % 8));
  return raw(context, std::move(bytes));
}
Parcels all_ones(Tree tree, MischiefContext& context) {  // a segment table that promises the world
  return raw(context, wire::Bytes(encoded(std::move(tree)).size(), std::byte{0xFF}));
}
Parcels too_large(Tree tree, MischiefContext& context) {
  wire::Bytes bytes = encoded(std::move(tree));
  bytes.resize(kDraftFrameBytesMax + 8);
  return raw(context, std::move(bytes));
}
Parcels wrong_boundary(Tree tree, MischiefContext& context) {
  return raw(context, encoded(std::move(tree)), Boundary::generate);
}
Parcels no_boundary(Tree tree, MischiefContext& context) {
  return raw(context, encoded(std::move(tree)), static_cast<Boundary>(77));
}

// ---- Messages that a drafter does not send
// ---------------------------------------------------------------------------------

Parcels a_verifiers_message(Tree tree, MischiefContext& context) {
  return raw(context, wire::encode(DraftMessage(Release{tree.fence.sequence, tree.fence.epoch})));
}
Parcels a_workers_message(Tree, MischiefContext& context) {
  return raw(context, wire::encode(ControlMessage(Leaving{.reason = "no reason"})), Boundary::control);
}
Parcels a_routers_drain(Tree, MischiefContext& context) {
  return raw(context, wire::encode(ControlMessage(Drain{"no reason"})), Boundary::control);
}
Parcels a_routers_cancel(Tree tree, MischiefContext& context) {
  return raw(context, wire::encode(GenerateMessage(Cancel{tree.fence.sequence, tree.fence.epoch})), Boundary::generate);
}
Parcels a_routers_start(Tree tree, MischiefContext& context) {  // of the very sequence, in a newer epoch
  const Start theft{.sequence = tree.fence.sequence,
                    .epoch = tree.fence.epoch + 1,
                    .spec = {.prompt_length = 1, .sampling = {.temperature = 0}, .output_max = 8},
                    .tokens = {1}};
  return raw(context, wire::encode(GenerateMessage(theft)), Boundary::generate);
}
Parcels resync_from_nowhere(Tree tree, MischiefContext& context) {
  const Fence& fence = tree.fence;
  return raw(context, wire::encode(DraftMessage(Resync{fence.sequence, fence.epoch, fence.round, kContextTokensMax})));
}
Parcels resync_of_less_than_nothing(Tree tree, MischiefContext& context) {
  constexpr int32_t kMark = 31337;
  const Fence& fence = tree.fence;
  return with_mark<int32_t>(context, Resync{fence.sequence, fence.epoch, fence.round, kMark}, kMark, -1);
}

// ---- Nodes that are no tree
// ------------------------------------------------------------------------------------------------

Parcels its_own_parent(Tree tree, MischiefContext& context) {
  return with_first(context, std::move(tree), {.token = any_token(context), .parent = 0});
}
Parcels a_later_parent(Tree tree, MischiefContext& context) {
  tree.nodes = {{any_token(context), 1, 0.5F}, {any_token(context), kRoot, 0.5F}};
  return one(context, std::move(tree));
}
Parcels a_ring(Tree tree, MischiefContext& context) {
  tree.nodes = {{any_token(context), 2, 0.5F}, {any_token(context), 0, 0.5F}, {any_token(context), 1, 0.5F}};
  return one(context, std::move(tree));
}
Parcels a_parent_outside(Tree tree, MischiefContext& context) {
  return with_first(context, std::move(tree), {.token = any_token(context), .parent = 1000});
}
Parcels a_parent_before_the_root(Tree tree, MischiefContext& context) {
  return with_first(context, std::move(tree), {.token = any_token(context), .parent = -2});
}
Parcels equal_siblings(Tree tree, MischiefContext& context) {
  const TokenId token = any_token(context);
  tree.nodes = {{token, kRoot, 0.5F}, {token, kRoot, 0.4F}};
  return one(context, std::move(tree));
}
Parcels a_token_past_the_vocabulary(Tree tree, MischiefContext& context) {
  return with_first(context, std::move(tree), {.token = context.vocabulary});
}
Parcels a_negative_token(Tree tree, MischiefContext& context) { return with_first(context, std::move(tree), {.token = -1}); }
Parcels a_survival_that_is_no_number(Tree tree, MischiefContext& context) {
  return with_first_survival(context, std::move(tree), std::numeric_limits<float>::quiet_NaN());
}
Parcels a_survival_past_one(Tree tree, MischiefContext& context) { return with_first_survival(context, std::move(tree), 2.0F); }
Parcels a_survival_below_nothing(Tree tree, MischiefContext& context) {
  return with_first_survival(context, std::move(tree), -0.5F);
}
Parcels a_child_surer_than_its_parent(Tree tree, MischiefContext& context) {
  tree.nodes = {{any_token(context), kRoot, 0.2F}, {any_token(context), 0, 0.9F}};
  return one(context, std::move(tree));
}
Parcels too_deep(Tree tree, MischiefContext& context) {
  tree.nodes.clear();
  for (int i = 0; i < kTreeNodesMax; ++i) tree.nodes.push_back({any_token(context), i - 1, 0.5F});
  return one(context, std::move(tree));
}
// The word before a list of structs carries its length, shifted by two bits.
Parcels more_nodes_than_there_are(Tree tree, MischiefContext& context) {
  tree.nodes.resize(kTreeNodesMax, {.parent = kRoot});
  return with_mark<uint32_t>(context, DraftMessage(std::move(tree)), kTreeNodesMax << 2, 4096 << 2);
}

// As many nodes again in the same space: the word before the list also says how many words each
// has.
Parcels twice_as_many_nodes_as_allowed(Tree tree, MischiefContext& context) {
  tree.nodes.resize(kTreeNodesMax, {.parent = kRoot});
  constexpr uint64_t kMark = (uint64_t{2} << 32) | (kTreeNodesMax << 2);
  return with_mark<uint64_t>(context, DraftMessage(std::move(tree)), kMark, (uint64_t{1} << 32) | (kTreeNodesMax << 3));
}

// ---- Trees that are not asked for
// ------------------------------------------------------------------------------------------

Parcels wider_than_asked(Tree tree, MischiefContext& context) {
  const TokenId first = any_token(context);
  tree.nodes.clear();
  for (int i = 0; i < kTreeNodesMax; ++i) tree.nodes.push_back({(first + i) % context.vocabulary, kRoot, 0.5F});
  return one(context, std::move(tree));
}
Parcels of_an_older_round(Tree tree, MischiefContext& context) {
  --tree.fence.round;
  return one(context, std::move(tree));
}
Parcels of_a_later_round(Tree tree, MischiefContext& context) {
  ++tree.fence.round;
  return one(context, std::move(tree));
}
Parcels of_another_epoch(Tree tree, MischiefContext& context) {
  tree.fence.epoch += 5;
  return one(context, std::move(tree));
}
Parcels of_another_prefix(Tree tree, MischiefContext& context) {
  tree.fence.prefix_hash ^= 1;
  return one(context, std::move(tree));
}
Parcels of_a_shorter_base(Tree tree, MischiefContext& context) {
  --tree.fence.base_length;
  return one(context, std::move(tree));
}
Parcels of_a_longer_base(Tree tree, MischiefContext& context) {  // parked until the commit gets there, where its hash is wrong
  tree.fence.base_length += 2;
  return one(context, std::move(tree));
}
Parcels of_the_longest_base(Tree tree, MischiefContext& context) {
  tree.fence.base_length = kContextTokensMax;
  return one(context, std::move(tree));
}
Parcels of_an_unknown_sequence(Tree tree, MischiefContext& context) {
  tree.fence.sequence.counter = context.random();
  return one(context, std::move(tree));
}
Parcels after_an_hour_as_it_says(Tree tree, MischiefContext& context) {
  tree.draft_us = 3'600'000'000;
  return one(context, std::move(tree));
}
Parcels twice(Tree tree, MischiefContext& context) { return Parcels(2, one(context, std::move(tree)).front()); }
Parcels a_hundred_times(Tree tree, MischiefContext& context) { return Parcels(100, one(context, std::move(tree)).front()); }
Parcels nothing_without_a_reason(Tree tree, MischiefContext& context) {
  tree.nodes.clear();
  return one(context, std::move(tree));
}
Parcels nodes_and_a_reason_for_none(Tree tree, MischiefContext& context) {
  tree.no_nodes = NoNodes::leaving;
  return one(context, std::move(tree));
}
Parcels silence(Tree, MischiefContext&) { return {}; }
Parcels the_honest_tree(Tree tree, MischiefContext& context) { return one(context, std::move(tree)); }

#define SLIPSTREAM_NAMED(function) \
  Mischief { #function, function }
constexpr Mischief kMischief[] = {
    SLIPSTREAM_NAMED(another_protocol),
    SLIPSTREAM_NAMED(another_version),
    SLIPSTREAM_NAMED(another_sender),
    SLIPSTREAM_NAMED(a_short_envelope),
    SLIPSTREAM_NAMED(no_envelope),
    SLIPSTREAM_NAMED(only_an_envelope),
    SLIPSTREAM_NAMED(a_third_frame),
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
    SLIPSTREAM_NAMED(a_routers_drain),
    SLIPSTREAM_NAMED(a_routers_cancel),
    SLIPSTREAM_NAMED(a_routers_start),
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
    SLIPSTREAM_NAMED(after_an_hour_as_it_says),
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
