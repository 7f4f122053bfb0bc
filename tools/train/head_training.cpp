#include "tools/train/head_training.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>

#include "tools/train/gradient_clip.h"
#include "tools/train/head_loss.h"

namespace slipstream::train {
namespace {

constexpr const char* kOutput = "lm_head.weight";

// Adds the drafts of one chat. drafted: [steps] of [rows] the head's likeliest tokens, as indices
// of the draft vocabulary.
void count_drafts(const HeadBatch::Chat& chat, const std::vector<std::span<const int64_t>>& drafted,
                  std::vector<DraftedDepth>& depths) {
  const size_t steps = drafted.size();
  for (auto row = static_cast<size_t>(chat.answer); row + steps <= chat.choice.size(); ++row) {
    for (size_t depth = 0; depth < steps; ++depth) {
      const size_t at = row + depth;
      ++depths[depth].tried;
      if (drafted[depth][at] != chat.choice[at]) break;
      ++depths[depth].matched;
      if (chat.next[at] != chat.choice[at]) break;  // the chat goes on with another token
    }
  }
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
      head_(config, weights_, whole_rows(data.tokens_max()), settings.compute()),
      examples_(std::move(examples)),
      optimizer_(trained_, {.decay = settings.decay}),
      data_(data),
      batcher_(config, data, settings.unroll, device(), settings.freeze_output ? settings.extra_tokens : 0),
      held_out_batcher_(config, data, settings.unroll, device()),
      batches_(batcher_, data, {.batch = settings.batch, .micro_batch = settings.micro_batch, .seed = settings.seed}) {
  if (settings.freeze_output) at::Tensor(weights_.at(kOutput)).requires_grad_(false);
}

bool HeadTraining::finished() const {
  return settings_.minutes > 0 ? seconds_done_ >= 60 * settings_.minutes : steps_done_ >= settings_.steps;
}

double HeadTraining::rate(double seconds) const {
  if (settings_.minutes > 0) return learning_rate_by_time(schedule_, steps_done_, seconds / (60 * settings_.minutes));
  return learning_rate(schedule_, steps_done_);
}

// Adds the gradients of some chats, and returns their loss: a scalar, undefined if they teach
// nothing.
at::Tensor HeadTraining::learn(const HeadBatch& batch, double divisor) const {
  if (batch.rows.numel() == 0) return {};
  const HeadExample example = examples_.of(batch);
  const std::vector<at::Tensor> outs = head_.unroll(example.input, settings_.unroll);
  std::vector<double> weights;
  for (int step = 0; step < settings_.unroll; ++step) weights.push_back(std::pow(settings_.step_weight, step) / divisor);
  return head_loss_backward(head_, outs, batch.rows, example, weights);
}

Result<void> HeadTraining::step(double seconds) {
  const StepReport report{.step = steps_done_ + 1, .learning_rate = rate(seconds)};
  const bool last = settings_.minutes <= 0 && report.step >= settings_.steps;
  TRY(const StepBatches chats, batches_.of(steps_done_, /*more=*/!last));
  double weights = 0;
  for (int step = 0; step < settings_.unroll; ++step) weights += std::pow(settings_.step_weight, step);
  at::Tensor loss = at::zeros({}, at::TensorOptions(at::kDouble).device(device()));
  for (const HeadBatch& batch : chats.batches) {
    const at::Tensor more = learn(batch.on(device()), weights * static_cast<double>(std::max<int64_t>(1, chats.rows)));
    if (more.defined()) loss += more;
  }
  for (const Parameter& parameter : trained_.all()) {
    if (!parameter.value.grad().defined())
      return fail("step {}: its {} chats have nothing to learn", report.step, settings_.batch);
  }
  const Clipping clipping = clip_gradients(trained_, settings_.clip);
  optimizer_.step(report.learning_rate, {.divisor = clipping.divisor, .broken = broken(loss, clipping.norm)});
  optimizer_.clear_gradients();
  reports_.add(report, loss, clipping.norm);
  ++steps_done_;
  // A training that ends after steps is not to know of the time: its bits do not depend on it.
  if (settings_.minutes > 0) seconds_done_ = seconds;
  return {};
}

Result<std::vector<StepReport>> HeadTraining::reports() {
  std::vector<StepReport> reports = reports_.read();
  if (reports.empty() || reports.back().finite()) return reports;
  const StepReport& last = reports.back();
  return fail("step {}: the loss is {} and the norm of its gradients {}: lower --learning-rate, which is {}", last.step,
              last.loss, last.gradient_norm, settings_.learning_rate);
}

Result<HeldOut> HeadTraining::held_out(int64_t chats_max) const {
  const at::NoGradGuard no_gradients;
  HeldOut result{.depths = std::vector<DraftedDepth>(static_cast<size_t>(settings_.unroll))};
  int64_t rows = 0;
  std::vector<const FeatureDocument*> documents;
  for (const FeatureDocument& document : data_.held_out()) documents.push_back(&document);
  documents.resize(std::min(documents.size(), static_cast<size_t>(chats_max)));
  const auto at_once = static_cast<size_t>(settings_.micro_batch);
  for (size_t begin = 0; begin < documents.size(); begin += at_once) {
    TRY(const HeadBatch made,
        held_out_batcher_.of(std::span(documents).subspan(begin, std::min(at_once, documents.size() - begin))));
    const HeadBatch batch = made.on(device());
    const HeadExample example = examples_.of(batch);
    std::vector<at::Tensor> likeliest;  // [chats, rows]
    for (const at::Tensor& out : head_.unroll(example.input, settings_.unroll)) {
      const at::Tensor logits = head_.logits(head_.normed(out), head_.output());
      if (likeliest.empty()) {
        const at::Tensor learned = logits.flatten(0, 1).index_select(0, batch.rows);
        result.loss += cross_entropy(learned, target_probability(example.target_out, example.output)).sum().item<double>();
        rows += batch.learned_rows();
      }
      likeliest.push_back(logits.argmax(2).to(at::kCPU).contiguous());
    }
    for (size_t chat = 0; chat < batch.chats.size(); ++chat) {
      std::vector<std::span<const int64_t>> drafted;
      for (const at::Tensor& tokens : likeliest) {
        const auto of_a_chat = static_cast<size_t>(tokens.size(1));
        drafted.emplace_back(tokens.const_data_ptr<int64_t>() + chat * of_a_chat, of_a_chat);
      }
      count_drafts(batch.chats[chat], drafted, result.depths);
    }
  }
  result.loss /= static_cast<double>(std::max<int64_t>(1, rows));
  return result;
}

Result<void> HeadTraining::save(const std::filesystem::path& checkpoint, const Conditions& conditions) const {
  return write_checkpoint(checkpoint, {weights_, optimizer_, steps_done_, seconds_done_}, conditions);
}

Result<void> HeadTraining::restore(const std::filesystem::path& checkpoint, const Conditions& conditions) {
  TRY(const Done done,
      read_checkpoint(checkpoint, weights_, optimizer_, {.steps_max = settings_.steps, .conditions = conditions}));
  steps_done_ = done.steps;
  seconds_done_ = done.seconds;
  return {};
}

}  // namespace slipstream::train
