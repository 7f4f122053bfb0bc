#include "common/model/language_model.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "common/base/check.h"
#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/fingerprint.h"
#include "common/kv/block_pool.h"
#include "common/model/llama.h"
#include "common/model/step_check.h"
#include "kernels/exact/half.h"

namespace slipstream {
namespace {

// Reports the progress of a load, and times its parts.
class LoadWatch {
 public:
  LoadWatch(uint64_t bytes, const OnLoad& told) : told_(told), progress_{.all = bytes} {}

  // Starts a part. The callback that it returns adds bytes to it.
  std::function<void(uint64_t)> counts(LoadPart part) {
    progress_.part = part;
    progress_.bytes = 0;
    return [this](uint64_t bytes) {
      progress_.bytes += bytes;
      if (told_) told_(progress_);
    };
  }
  double lap() {  // seconds since the last call
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(began_, now)).count();
  }

 private:
  const OnLoad& told_;
  LoadProgress progress_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// A model's pass, at whose end its head, if it has one, reads the rows, or its acceptance head the
// wanted ones; of a head alone, its own reading of them.
struct Headed final : Network {
  Llama target;
  std::optional<EagleHead> head;
  bool head_alone = false;
  std::optional<AcceptanceHead> acceptance;
  Tensor states;  // [rows_max, hidden], for the host; no data: nobody asks for them
  std::vector<KvCache*> all_caches;
  std::vector<FeaturePlane*> all_planes;

  // Once all is loaded.
  void list() {
    all_caches.assign(target.caches().begin(), target.caches().end());
    if (!head) return;
    if (head->cache() != nullptr) all_caches.push_back(head->cache());
    all_planes.push_back(head->plane());
  }
  void forward(Ops& ops, Shape shape) const override {
    if (head_alone) return head->observe_kept(ops, shape);
    target.forward(ops, shape);
    if (head) head->observe(ops, shape, target.features());
    if (shape.wanted > 0) read_states(ops, shape.wanted);
  }
  void read_states(Ops& ops, int32_t wanted) const {
    Tensor read = target.states(), kept = states;
    read.rows = kept.rows = wanted;
    if (kept.data != nullptr) ops.put_columns(read, kept, 0);
    if (acceptance) acceptance->predict(ops, read);
  }
  std::span<KvCache* const> caches() const override { return all_caches; }
  std::span<FeaturePlane* const> planes() const override { return all_planes; }
};

// A pass of the head alone. It does the step's moves in the target's cache as well. scored: its
// logits are read; two objects, since a device may capture what a network does.
struct HeadPass final : Network {
  HeadPass(const Headed& model, bool scored) : model_(model), scored_(scored) {}
  void forward(Ops& ops, Shape shape) const override { model_.head->draft(ops, shape, scored_); }
  std::span<KvCache* const> caches() const override { return model_.caches(); }
  std::span<FeaturePlane* const> planes() const override { return model_.planes(); }

 private:
  const Headed& model_;
  bool scored_;
};

// The first `rows` rows of an output, as the device's host() reads them; nothing of one that was
// not asked for.
template <class Number>
std::span<const Number> read(Device& device, Tensor output, size_t rows) {
  if (output.data == nullptr) return {};
  output.rows = static_cast<int32_t>(rows);
  constexpr size_t kWords = sizeof(Number) / 4;  // 32-bit columns that one takes
  return {static_cast<const Number*>(device.host(output)), rows * static_cast<size_t>(output.cols) / kWords};
}

// The candidates of a row that Ops::rank() wrote. A row with fewer of them than columns ends at
// token -1.
std::span<const Ranked> candidates(std::span<const Ranked> all, const Tensor& output, size_t row) {
  const auto columns = static_cast<size_t>(output.cols / kRankedWords);
  const auto of_row = all.subspan(row * columns, columns);
  return of_row.first(static_cast<size_t>(std::ranges::find(of_row, -1, &Ranked::token) - of_row.begin()));
}

Result<void> check_taps(const std::vector<int32_t>& taps, int32_t layers) {
  for (size_t i = 0; i < taps.size(); ++i) {
    if (taps[i] < (i == 0 ? 0 : taps[i - 1] + 1) || taps[i] > layers) {
      return fail("layer {} cannot be tapped: taps ascend, and the model has layers 0 to {}", taps[i], layers - 1);
    }
  }
  return {};
}

Result<void> check_options(const ModelOptions& options, int32_t step_rows) {
  if (options.rows_max < 0 || options.rows_max > step_rows) {
    return fail("{} rows a step were asked for; 1 to {} are possible", options.rows_max, step_rows);
  }
  if (options.cache_bytes == 0 && (options.cache_blocks < 1 || options.cache_blocks > kCacheBlocksMax)) {
    return fail("{} cache blocks were asked for; 1 to {} are possible", options.cache_blocks, kCacheBlocksMax);
  }
  if (options.ranked < 0 || options.ranked > kRankedMax) {
    return fail("{} candidates a row were asked for; 0 to {} are possible", options.ranked, kRankedMax);
  }
  if (options.head_ranked < 1 || options.head_ranked > kRankedMax) {
    return fail("{} candidates a row of the draft head were asked for; 1 to {} are possible", options.head_ranked, kRankedMax);
  }
  return {};
}

// Bytes of a block of the cache, over all layers, and of a draft head's; head: null if there is
// none.
size_t block_bytes(const Device& device, const LlamaConfig& config, const LlamaConfig* head, HeadPart part) {
  const auto of = [&](const LlamaConfig& network, int layers) {
    return device.cache_bytes(layers, {.heads = network.heads, .kv_heads = network.kv_heads, .head_size = network.head_size},
                              1);
  };
  if (head == nullptr) return of(config, config.layers);
  const size_t target = part == HeadPart::drafts ? 0 : of(config, config.layers);
  return target + device.plane_bytes(head->hidden, 1) + (part == HeadPart::features ? 0 : of(*head, 1));
}

// How many blocks an amount of memory holds.
Result<int32_t> blocks_in(uint64_t bytes, size_t each) {
  const uint64_t blocks = bytes / each;
  if (blocks < kCacheBlocksMin) {
    return fail(
        "a cache in {} bytes holds {} tokens of this model, at {} bytes each, and at least {} are needed: --cache-memory {}KiB "
        "or more",
        bytes, blocks * kBlockTokens, each / kBlockTokens, kCacheBlocksMin * kBlockTokens,
        (kCacheBlocksMin * each + 1023) / 1024);
  }
  return static_cast<int32_t>(std::min<uint64_t>(blocks, kCacheBlocksMax));
}

}  // namespace

struct LanguageModel::State {
  LlamaConfig config;
  StepLimits limits;
  uint64_t weights_hash = 0;
  LoadReport report;
  std::shared_ptr<Device> device;  // declared before the model, which points into it
  Headed model;
  HeadPass head_pass{model, false}, scored_head_pass{model, true};
  std::string head_name;
  uint64_t head_hash = 0;
  std::vector<float> features;  // on their way from or to the plane
  bool fine_rows = false;
  size_t rows = 0, wanted = 0;  // of the last run
  bool logits_read = true;
  size_t drafted = 0;  // rows of the last draft
  bool drafts_scored = false;
  std::optional<TokenMask> draft_vocabulary;
  std::vector<ExtraToken> no_extra;  // [rows_max, kExtraTokens] for drafts that have none, if the head takes some

  const std::optional<AcceptanceHead>& predictor() const { return model.head ? model.head->acceptance() : model.acceptance; }

  Result<void> load_head(const HeadConfig& config, const ModelOptions& options, const EagleHeadOptions& sizes);
  Result<void> load_readers(const std::filesystem::path& folder, const ModelOptions& options, int32_t rows_max);
};

// What reads the wanted rows' states.
Result<void> LanguageModel::State::load_readers(const std::filesystem::path& folder, const ModelOptions& options,
                                                int32_t rows_max) {
  if (options.acceptance) {
    CHECK(options.ranked > 0 && options.head.empty(), "an acceptance head of a model that ranks, and has no draft head");
    TRY(model.acceptance, AcceptanceHead::load(folder, weights_hash, config.hidden, *device, rows_max));
  }
  if (options.traced) {
    TRY(model.states, device->output(rows_max, config.hidden, Type::f32));
  }
  return {};
}

// sizes: all but what the options say.
Result<void> LanguageModel::State::load_head(const HeadConfig& head, const ModelOptions& options,
                                             const EagleHeadOptions& sizes) {
  head_name = options.head.filename().string();
  TRY(head_hash, draft_head_hash(options.head));
  EagleHeadOptions all = sizes;
  all.part = options.head_part;
  all.ranked = options.head_ranked;
  all.traced = options.head_traced;
  all.hash = head_hash;
  TRY(model.head, EagleHead::load(options.head, head, model.target, *device, all));
  if (!head.target_output || !model.head->drafts()) return {};
  draft_vocabulary.emplace(config.vocabulary);
  for (const TokenId token : head.tokens) draft_vocabulary->allow(token);
  no_extra.resize(static_cast<size_t>(sizes.rows_max) * kExtraTokens);
  return {};
}

LanguageModel::LanguageModel(std::unique_ptr<State> state) : state_(std::move(state)) {}
LanguageModel::LanguageModel(LanguageModel&&) noexcept = default;
LanguageModel& LanguageModel::operator=(LanguageModel&&) noexcept = default;
LanguageModel::~LanguageModel() = default;

// Config and file are checked first, then every byte is hashed, and only then packed: an unreadable
// model fails before it takes memory, and the hash warms the page cache for the packing.
Result<LanguageModel> LanguageModel::load(const std::filesystem::path& model, std::shared_ptr<Device> device,
                                          const ModelOptions& options) {
  TRY_VOID(check_options(options, device->step_rows()));
  CHECK(options.head_part == HeadPart::whole || !options.head.empty(), "a part of no head");
  auto state = std::make_unique<State>();
  state->device = std::move(device);
  TRY(state->config, read_llama_config(model));
  TRY_VOID(state->device->prepare({state->config.heads, state->config.kv_heads, state->config.head_size}));
  TRY_VOID(check_taps(options.taps, state->config.layers));
  TRY(const Checkpoint checkpoint, Checkpoint::open(model));
  state->report.bytes = checkpoint.bytes();
  LoadWatch watch(state->report.bytes, options.on_load);
  TRY(state->weights_hash, hash_weights(model, state->config, watch.counts(LoadPart::read)));
  state->report.read_seconds = watch.lap();
  std::vector<int32_t> taps = options.taps;
  std::optional<HeadConfig> head;
  if (!options.head.empty()) {
    CHECK(taps.empty(), "a model with a head is tapped by it");
    TRY(head, read_head_config(options.head));
    TRY_VOID(head_fits(*head, state->config, state->weights_hash, options.head.string()));
    if (head->taps.empty()) head->taps = default_taps(state->config.layers);
    taps = head->taps;
  }
  const int32_t step_rows = options.rows_max > 0 ? options.rows_max : state->device->step_rows();
  int32_t cache_blocks = options.cache_blocks;
  if (options.cache_bytes > 0) {
    TRY(cache_blocks, blocks_in(options.cache_bytes,
                                block_bytes(*state->device, state->config, head ? &head->layer : nullptr, options.head_part)));
  }
  // No sequence is longer than the cache, so tables of a small one are small.
  const int32_t positions =
      static_cast<int32_t>(std::min(int64_t{state->config.context_max}, int64_t{cache_blocks} * kBlockTokens));
  state->model.head_alone = options.head_part == HeadPart::drafts;
  const auto packed = watch.counts(LoadPart::pack);
  if (state->model.head_alone) {
    TRY(state->model.target, Llama::load_ends(checkpoint, state->config, *state->device, packed));
  } else {
    TRY(state->model.target, Llama::load(checkpoint, state->config, *state->device,
                                         {.rows_max = step_rows,
                                          .cache_blocks = cache_blocks,
                                          .positions = positions,
                                          .ranked = options.ranked,
                                          .screen_output = options.screen_output,
                                          .fine_rows = options.fine_rows,
                                          .taps = std::move(taps),
                                          .packed = packed}));
  }
  if (head) {
    TRY_VOID(state->load_head(*head, options, {.rows_max = step_rows, .cache_blocks = cache_blocks, .positions = positions}));
  }
  TRY_VOID(state->load_readers(model, options, step_rows));
  state->model.list();
  state->report.pack_seconds = watch.lap();
  state->fine_rows = options.fine_rows;
  state->limits = {
      .rows_max = step_rows, .vocabulary = state->config.vocabulary, .positions = positions, .cache_blocks = cache_blocks};
  return LanguageModel(std::move(state));
}

// The check comes before anything runs, because kernels index with the step's numbers unchecked.
Result<std::span<const TokenId>> LanguageModel::run(const Step& step) {
  TRY_VOID(check_step(step, state_->limits));
  TRY_VOID(state_->device->run(state_->model, step));
  state_->rows = step.token.size();
  state_->wanted = step.wanted.size();
  state_->logits_read = step.logits_read;
  return read<TokenId>(*state_->device, state_->model.target.sampled_tokens(), state_->wanted);
}

std::span<const Ranked> LanguageModel::ranked(size_t wanted) const {
  const Tensor all = state_->model.target.ranked();
  CHECK(wanted < state_->wanted && all.data != nullptr, "no candidates of wanted row {}", wanted);
  return candidates(read<Ranked>(*state_->device, all, state_->wanted), all, wanted);
}

bool LanguageModel::has_head() const { return state_->model.head && state_->model.head->drafts(); }
std::string LanguageModel::head_name() const { return state_->head_name; }
uint64_t LanguageModel::head_hash() const { return state_->head_hash; }

Result<void> LanguageModel::draft(const Step& step) {
  CHECK(has_head() && step.wanted.size() == step.token.size(), "a draft of a model with a head, of rows that are all wanted");
  TRY_VOID(check_step(step, state_->limits));
  Step given = step;
  if (!state_->model.head->takes_extra()) {
    given.extra = {};
  } else if (step.extra.empty()) {
    given.extra = std::span(state_->no_extra).first(step.token.size() * kExtraTokens);
  }
  TRY_VOID(state_->device->run(step.logits_read ? state_->scored_head_pass : state_->head_pass, given));
  state_->drafted = step.token.size();
  state_->drafts_scored = step.logits_read;
  return {};
}

Result<void> LanguageModel::read_features(std::span<const int32_t> slots, std::vector<uint16_t>& rows) {
  const FeaturePlane& plane = *state_->model.head->plane();
  state_->features.resize(slots.size() * static_cast<size_t>(plane.cols));
  TRY_VOID(state_->device->read(plane, slots, state_->features));
  std::ranges::transform(state_->features, std::back_inserter(rows), f32_to_bf16);
  return {};
}

Result<void> LanguageModel::write_features(std::span<const int32_t> slots, std::span<const uint16_t> rows) {
  FeaturePlane& plane = *state_->model.head->plane();
  CHECK(rows.size() == slots.size() * static_cast<size_t>(plane.cols), "{} numbers for {} features", rows.size(), slots.size());
  state_->features.resize(rows.size());
  std::ranges::transform(rows, state_->features.begin(), bf16_to_f32);
  return state_->device->write(plane, slots, state_->features);
}

const TokenMask* LanguageModel::draft_vocabulary() const {
  return state_->draft_vocabulary ? &*state_->draft_vocabulary : nullptr;
}

std::span<const Ranked> LanguageModel::drafted(size_t row) const {
  CHECK(row < state_->drafted, "row {} of a draft of {}", row, state_->drafted);
  const Tensor all = state_->model.head->ranked();
  return candidates(read<Ranked>(*state_->device, all, state_->drafted), all, row);
}

bool LanguageModel::predicts_acceptance() const { return state_->predictor().has_value(); }

float LanguageModel::acceptance(size_t row, float confidence, bool sampled) const {
  const size_t rows = has_head() ? state_->drafted : state_->wanted;
  CHECK(predicts_acceptance() && row < rows, "acceptance of row {} of {}", row, rows);
  return state_->predictor()->probability(row, confidence, sampled);
}

std::span<const float> LanguageModel::drafted_states() const {
  const Tensor states = state_->model.head->states();
  CHECK(states.data != nullptr, "a trace of the head was not asked for");
  return read<float>(*state_->device, states, state_->drafted);
}

std::span<const float> LanguageModel::drafted_logits() const {
  CHECK(state_->drafts_scored, "logits of a draft that did not ask for them");
  return read<float>(*state_->device, state_->model.head->logits(), state_->drafted);
}

std::span<const float> LanguageModel::logits() const {
  CHECK(state_->logits_read, "logits of a step that did not ask for them");
  return read<float>(*state_->device, state_->model.target.logits(), state_->wanted);
}

std::span<const float> LanguageModel::states() const {
  CHECK(state_->model.states.data != nullptr, "states were not asked for");
  return read<float>(*state_->device, state_->model.states, state_->wanted);
}

std::span<const float> LanguageModel::features() const {
  return read<float>(*state_->device, state_->model.target.features(), state_->rows);
}

const LlamaConfig& LanguageModel::config() const { return state_->config; }
uint64_t LanguageModel::weights_hash() const { return state_->weights_hash; }
const LoadReport& LanguageModel::load_report() const { return state_->report; }
std::string LanguageModel::numerics_id() const {
  return state_->device->numerics_id(state_->model.target.weights()) + (state_->fine_rows ? "/fine rows" : "");
}
std::span<const uint8_t> LanguageModel::near_ties() const { return state_->device->near_ties(); }
RowWeigher* LanguageModel::weigher() { return state_->device->weigher(); }
bool LanguageModel::row_invariant() const { return state_->device->row_invariant(); }

int32_t LanguageModel::step_rows() const { return state_->limits.rows_max; }
int32_t LanguageModel::sequences() const { return state_->device->sequences(); }
int32_t LanguageModel::cache_blocks() const { return state_->limits.cache_blocks; }

size_t LanguageModel::cache_bytes() const {
  size_t bytes = 0;
  for (const KvCache* cache : state_->model.caches()) bytes += cache->bytes;
  for (const FeaturePlane* plane : state_->model.planes()) bytes += plane->bytes;
  return bytes;
}

}  // namespace slipstream
