#include "tools/train/head_training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nonzero.h>
#include <fmt/format.h>

#include "tools/train/epoch_order.h"
#include "tools/train/gradient_clip.h"

namespace slipstream::train {
namespace {

constexpr const char* kOutput = "lm_head.weight";

int64_t tokens_max(const HeadData& data) {
  size_t most = 0;
  for (const auto documents : {data.train(), data.held_out()}) {
    for (const FeatureDocument& document : documents) most = std::max(most, document.tokens.size());
  }
  return static_cast<int64_t>(most);
}

// Indices of the rows that an unrolled step learns from.
at::Tensor rows_of(const HeadExample& example, int64_t step) {
  const int64_t first = std::min(example.first_row(step), example.rows());
  return at::nonzero(example.choice.narrow(0, first, example.rows() - first) >= 0).squeeze(1) + first;
}

// Of each row.
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& probability) {
  return -(probability * at::log_softmax(logits, 1)).sum(1);
}

// Adds the drafts of one chat. hit: [steps] of [rows]: 1 where the head's likeliest token is the
// target's; follows: [rows] where the chat goes on with the target's choice.
void count_drafts(const HeadExample& example, const std::vector<std::vector<bool>>& hit, const std::vector<bool>& follows,
                  std::vector<DraftedDepth>& depths) {
  const auto steps = static_cast<int64_t>(hit.size());
  for (int64_t row = example.answer; row + steps <= example.rows(); ++row) {
    for (int64_t depth = 0; depth < steps; ++depth) {
      const auto at = static_cast<size_t>(row + depth);
      DraftedDepth& counted = depths[static_cast<size_t>(depth)];
      ++counted.tried;
      if (!hit[static_cast<size_t>(depth)][at]) break;
      ++counted.matched;
      if (!follows[at]) break;
    }
  }
}

std::vector<bool> flags(const at::Tensor& mask) {
  const at::Tensor dense = mask.contiguous();
  const bool* values = dense.const_data_ptr<bool>();
  return std::vector<bool>(values, values + dense.numel());
}

}  // namespace

double HeldOut::tokens_per_round() const {
  double tokens = 1, reached = 1;
  for (const DraftedDepth& depth : depths) {
    reached *= depth.rate();
    tokens += reached;
  }
  return tokens;
}

std::string text_of(const HeldOut& held_out) {
  std::string rates;
  for (const DraftedDepth& depth : held_out.depths) rates += fmt::format(" {:.3f}", depth.rate());
  return fmt::format("held-out loss {:.3f}, accepted by depth{}, {:.3f} tokens a round", held_out.loss, rates,
                     held_out.tokens_per_round());
}

namespace {

constexpr double kRandomShare = 0.1;    // of fc, beside the residual
constexpr double kResidualScale = 0.3;  // of the residual, so that the block's own part soon counts
constexpr double kOwnShare = 0.5;       // of a query's random part, beside its key's

// fc gives the target's last tapped residual, scaled to a root mean square of kResidualScale.
void begin_fuse(const HeadConfig& config, const std::vector<float>& scales, const at::Tensor& fuse) {
  const int64_t hidden = config.target.hidden, last = config.width() - hidden;
  double squares = 0;
  for (int64_t i = 0; i < hidden; ++i) squares += std::pow(double{scales[static_cast<size_t>(last + i)]}, 2);
  const double root = std::sqrt(squares / static_cast<double>(hidden));
  fuse.mul_(kRandomShare);
  auto* numbers = fuse.mutable_data_ptr<float>();
  for (int64_t i = 0; i < hidden; ++i) {
    numbers[i * config.width() + last + i] += static_cast<float>(kResidualScale * scales[static_cast<size_t>(last + i)] / root);
  }
}

// Each query head begins as its key head.
void begin_query(const LlamaConfig& target, const at::Tensor& query, const at::Tensor& key) {
  const int64_t shared = target.heads / target.kv_heads, size = target.head_size;
  query.mul_(kOwnShare);
  for (int64_t head = 0; head < target.heads; ++head) {
    query.narrow(0, head * size, size).add_(key.narrow(0, head / shared * size, size));
  }
}

}  // namespace

Weights first_head_weights(const HeadConfig& config, const HeadTarget& target, const std::vector<float>& scales,
                           uint64_t seed) {
  Weights weights = Weights::random(head_tensors(config), /*layers=*/1, seed);
  const at::NoGradGuard no_gradients;
  weights.at("norm.weight").copy_(target.final_norm);
  weights.at(kOutput).copy_(target.output);
  begin_fuse(config, scales, weights.at("fc.weight"));
  begin_query(config.target, weights.at("midlayer.self_attn.q_proj.weight"), weights.at("midlayer.self_attn.k_proj.weight"));
  return weights;
}

HeadTraining::HeadTraining(const HeadConfig& config, Weights weights, HeadExamples examples, const HeadData& data,
                           const HeadTrainingSettings& settings)
    : settings_(settings),
      schedule_{.peak = settings.learning_rate, .warmup_steps = settings.warmup_steps, .steps = settings.steps},
      weights_(std::move(weights)),
      trained_(settings.freeze_output ? weights_.without(kOutput) : weights_),
      head_(config, weights_, tokens_max(data), settings.bf16 ? at::kBFloat16 : at::kFloat),
      examples_(std::move(examples)),
      optimizer_(trained_, {.decay = settings.decay}),
      data_(data) {
  if (settings.freeze_output) at::Tensor(weights_.at(kOutput)).requires_grad_(false);
}

int64_t HeadTraining::tokens_of_a_step() const {
  int64_t tokens = 0;
  for (const FeatureDocument& document : data_.train()) tokens += static_cast<int64_t>(document.tokens.size());
  return tokens * settings_.batch / static_cast<int64_t>(data_.train().size());
}

std::vector<const FeatureDocument*> HeadTraining::batch(int64_t step) {
  const auto count = static_cast<int64_t>(data_.train().size());
  std::vector<const FeatureDocument*> documents;
  for (int64_t n = step * settings_.batch; n < (step + 1) * settings_.batch; ++n) {
    if (n / count != epoch_) {
      epoch_ = n / count;
      order_ = epoch_order(static_cast<size_t>(count), epoch_, settings_.seed);
    }
    documents.push_back(&data_.train()[order_[static_cast<size_t>(n % count)]]);
  }
  return documents;
}

// Adds the gradients of a chat, and returns its loss.
double HeadTraining::learn(const FeatureDocument& document, double divisor) const {
  const HeadExample example = examples_.of(document);
  const std::vector<at::Tensor> outs = head_.unroll(example.input, settings_.unroll);
  // The rows of all steps go through the output head at once.
  std::vector<at::Tensor> rows, read, weights;
  for (int64_t step = 0; step < settings_.unroll; ++step) {
    rows.push_back(rows_of(example, step));
    read.push_back(outs[static_cast<size_t>(step)].index_select(0, rows.back()));
    weights.push_back(at::full({rows.back().numel()}, std::pow(settings_.step_weight, step) / divisor));
  }
  const at::Tensor all = at::cat(rows);
  if (all.numel() == 0) return 0;
  const at::Tensor losses = cross_entropy(head_.logits(at::cat(read)), example.probability.index_select(0, all));
  const at::Tensor loss = (losses * at::cat(weights)).sum();
  loss.backward();
  return loss.item<double>();
}

Result<StepReport> HeadTraining::step() {
  StepReport report{.step = steps_done_ + 1, .learning_rate = learning_rate(schedule_, steps_done_)};
  const std::vector<const FeatureDocument*> documents = batch(steps_done_);
  int64_t rows = 0;
  for (const FeatureDocument* document : documents) rows += examples_.learnable_rows(*document);
  double weights = 0;
  for (int step = 0; step < settings_.unroll; ++step) weights += std::pow(settings_.step_weight, step);
  for (const FeatureDocument* document : documents) {
    report.loss += learn(*document, weights * static_cast<double>(std::max<int64_t>(1, rows)));
  }
  for (const Parameter& parameter : trained_.all()) {
    if (!parameter.value.grad().defined())
      return fail("step {}: its {} chats have nothing to learn", report.step, documents.size());
  }
  report.gradient_norm = clip_gradients(trained_, settings_.clip);
  if (!std::isfinite(report.loss) || !std::isfinite(report.gradient_norm)) {
    optimizer_.clear_gradients();
    return fail("step {}: the loss is {} and the norm of its gradients {}: lower --learning-rate, which is {}", report.step,
                report.loss, report.gradient_norm, settings_.learning_rate);
  }
  optimizer_.step(report.learning_rate);
  optimizer_.clear_gradients();
  ++steps_done_;
  return report;
}

HeldOut HeadTraining::held_out(int64_t chats_max) const {
  const at::NoGradGuard no_gradients;
  HeldOut result{.depths = std::vector<DraftedDepth>(static_cast<size_t>(settings_.unroll))};
  int64_t rows_all = 0;
  for (const FeatureDocument& document :
       data_.held_out().first(std::min(data_.held_out().size(), static_cast<size_t>(chats_max)))) {
    const HeadExample example = examples_.of(document);
    std::vector<std::vector<bool>> hit;
    for (const at::Tensor& out : head_.unroll(example.input, settings_.unroll)) {
      const at::Tensor logits = head_.logits(out);
      if (hit.empty()) {
        const at::Tensor rows = rows_of(example, 0);
        rows_all += rows.numel();
        result.loss +=
            cross_entropy(logits.index_select(0, rows), example.probability.index_select(0, rows)).sum().item<double>();
      }
      hit.push_back(flags(logits.argmax(1) == example.choice));
    }
    count_drafts(example, hit, flags((example.next == example.choice) & (example.choice >= 0)), result.depths);
  }
  result.loss /= static_cast<double>(std::max<int64_t>(1, rows_all));
  return result;
}

Result<void> HeadTraining::save(const std::filesystem::path& checkpoint, const Conditions& conditions) const {
  return write_checkpoint(checkpoint, {weights_, optimizer_, steps_done_}, conditions);
}

Result<void> HeadTraining::restore(const std::filesystem::path& checkpoint, const Conditions& conditions) {
  TRY(steps_done_, read_checkpoint(checkpoint, weights_, optimizer_, {.steps_max = settings_.steps, .conditions = conditions}));
  return {};
}

}  // namespace slipstream::train
