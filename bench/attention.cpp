// Measures what attention costs in one layer: a tree of nodes, or a chunk of a prompt, behind a
// context. Also prints a hash of the result's bits: a change that only affects speed leaves it
// unchanged.
//
//   build/release/bench/attention --threads 2
#include <algorithm>
#include <bit>
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "bench/processor.h"
#include "common/checkpoint/rope_frequencies.h"
#include "common/kv/block_pool.h"
#include "common/model/cpu/cpu_device.h"
#include "common/model/step_plan.h"

namespace slipstream {
namespace {

using Clock = std::chrono::steady_clock;

constexpr AttentionShape kShape{.heads = 9, .kv_heads = 3, .head_size = 64};  // of SmolLM2-135M
constexpr int32_t kContextMax = 8192;

struct Case {
  const char* what;
  int32_t rows, context;
  bool tree;
};
constexpr Case kCases[] = {{"one token", 1, 256, true},      {"one token", 1, 1024, true},       {"one token", 1, 4096, true},
                           {"tree of 16", 16, 256, true},    {"tree of 16", 16, 1024, true},     {"tree of 16", 16, 4096, true},
                           {"prompt of 256", 256, 0, false}, {"prompt of 256", 256, 3000, false}};

// Times attention alone, as a network of one op over the output of a first layer's other parts.
class Layer final : public Network {
 public:
  Layer(Tensor qkv, Tensor out, const RopeTable& rope, KvCache* cache) : qkv_(qkv), out_(out), rope_(rope), cache_(cache) {}
  void forward(Ops& ops, Shape shape) const override {
    Tensor qkv = qkv_, out = out_;
    qkv.rows = out.rows = shape.rows;
    if (fill) return ops.rope_store(qkv, rope_, *cache_, 0);
    const auto start = Clock::now();
    ops.attend(qkv, *cache_, 0, {}, out);
    seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  uint32_t hash(int32_t rows) const {
    uint32_t hash = 0x811C9DC5;  // FNV-1a over whole words
    for (int32_t i = 0; i < rows * out_.cols; ++i)
      hash = (hash ^ std::bit_cast<uint32_t>(static_cast<const float*>(out_.data)[i])) * 0x01000193;
    return hash;
  }
  std::span<KvCache* const> caches() const override { return {&cache_, 1}; }
  void draw() {
    std::mt19937 random(1);
    std::normal_distribution<float> draw;
    for (int32_t i = 0; i < qkv_.rows * qkv_.cols; ++i) static_cast<float*>(qkv_.data)[i] = draw(random);
  }
  bool fill = false;
  mutable double seconds = 0;

 private:
  Tensor qkv_, out_;
  const RopeTable& rope_;
  KvCache* cache_;
};

// Orders the cache's blocks differently from the positions, so that reads jump as in a real cache.
StepPlan rows_of(const Case& each) {
  std::vector<int32_t> blocks;
  for (int32_t b = 0; b < kContextMax / kBlockTokens; ++b) blocks.push_back(b * 37 % (kContextMax / kBlockTokens));
  StepPlan plan;
  plan.blocks_max = static_cast<int32_t>(blocks.size());
  plan.add_sequence(blocks);
  std::vector<uint64_t> path;
  for (int32_t i = 0; i < each.rows; ++i) {
    const int32_t at = each.context + i;
    if (each.tree) path.push_back((i == 0 ? 0 : path[static_cast<size_t>((i - 1) / 2)]) | uint64_t{1} << i);
    plan.add({.position = at,
              .slot = blocks[static_cast<size_t>(at / kBlockTokens)] * kBlockTokens + at % kBlockTokens,
              .visible = each.tree ? each.context : at + 1,
              .ancestors = each.tree ? path.back() : 0});
  }
  return plan;
}

Result<void> run(const CpuOptions& options, int repeats) {
  TRY(const auto device, make_cpu_device(options));
  TRY(RopeTable * rope, device->rope(rope_frequencies({.head_size = kShape.head_size}), 1.0F, kContextMax));
  TRY(KvCache * cache, device->cache(1, kShape, kContextMax / 32, kContextMax));
  TRY(const Tensor qkv, device->scratch(256, (kShape.heads + 2 * kShape.kv_heads) * kShape.head_size, Type::f32));
  TRY(const Tensor out, device->scratch(256, kShape.heads * kShape.head_size, Type::f32));
  Layer layer(qkv, out, *rope, cache);
  layer.fill = true;
  for (int32_t at = 0; at < kContextMax; at += 256) {
    layer.draw();
    TRY_VOID(device->run(layer, rows_of({"", 256, at, false}).view()));
  }
  layer.fill = false;
  layer.draw();
  fmt::print("{}, {}, {} threads; one layer of {} heads over {} of {}; least and median of {}\n", processor(),
             device->numerics_id({}), options.threads, kShape.heads, kShape.kv_heads, kShape.head_size, repeats);
  fmt::print("{:<14} {:>7} {:>9} {:>9} {:>7}  bits\n", "", "behind", "least us", "median us", "GFMA/s");
  for (const Case& each : kCases) {
    const StepPlan rows = rows_of(each);
    std::vector<double> times;
    for (int i = 0; i < repeats; ++i) {
      TRY_VOID(device->run(layer, rows.view()));
      times.push_back(layer.seconds * 1e6);
    }
    std::ranges::sort(times);
    // A tree's row sees the context and about five ancestors; a prompt's row sees half of the chunk
    // on average.
    const double products =
        2.0 * each.rows * kShape.heads * kShape.head_size * (each.context + (each.tree ? 5 : each.rows / 2));
    fmt::print("{:<14} {:>7} {:>9.1f} {:>9.1f} {:>7.1f}  {:08x}\n", each.what, each.context, times[0], times[times.size() / 2],
               products / times[0] / 1e3, layer.hash(each.rows));
  }
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  slipstream::CpuOptions options{.threads = 2, .path = {}};
  int repeats = 15;
  std::string path;
  CLI::App app("Times attention of one layer on this CPU");
  app.add_option("--threads", options.threads, "compute threads")->capture_default_str();
  app.add_option("--path", path, "instructions; default: the fastest");
  app.add_option("--repeats", repeats, "runs of each case")->capture_default_str()->check(CLI::Range(1, 1000));
  CLI11_PARSE(app, argc, argv);
  if (!path.empty()) options.path = slipstream::cpu_path(path);
  if (const auto done = slipstream::run(options, repeats); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
  return 0;
}
