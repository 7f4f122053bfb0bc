// A draft method over a toy model that samples with the shared noise. The model is the target
// itself, a poor copy of it, or another model. It learns nothing from verdicts and features, but
// knows the target, and compares them with what they should be.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "common/drafting/method.h"
#include "tests/sim/random_source.h"
#include "tests/sim/toy_model.h"

namespace slipstream::sim {

class ToyMethod final : public Method {
 public:
  // odd_noise: of requests with an odd seed; unset: the distribution's own.
  ToyMethod(ToyDistribution distribution, double siblings, uint64_t seed, std::optional<double> odd_noise = {})
      : distribution_(distribution), odd_noise_(odd_noise), siblings_(siblings), random_(seed, "toy method") {}

  std::string_view name() const override { return "toy"; }
  void begin(const DraftKey& key, const GenerationSpec& spec) override {
    sequences_.insert_or_assign(key,
                                Held{.spec = spec, .context = {}, .logits_processor = LogitsProcessor(spec.logits_params)});
  }
  void learn(const DraftKey& key, std::span<const TokenId> verdicts) override;
  void see(const DraftKey& key, std::span<const uint16_t> features) override;
  void advance(const DraftKey& key, std::span<const TokenId> tokens) override;
  Result<std::vector<Draft>> draft(std::span<const DraftAsk> asks) override;
  void end(const DraftKey& key) override { sequences_.erase(key); }

  static int levels(const StopRule& rule);  // of a chain that is grown by this rule; at least 1, for the root

  uint64_t verdicts() const { return verdicts_; }              // that came on a tree of its own
  uint64_t wrong_verdicts() const { return wrong_verdicts_; }  // of those: not what the target chooses after that row

  uint64_t features() const { return features_; }              // that came
  uint64_t wrong_features() const { return wrong_features_; }  // of those: not of the token before the one that they came with

  // Returns the likeliest next tokens, for running ahead of the verifier; empty for an unknown key.
  std::vector<TokenId> foresee(const DraftKey& key, int tokens);

 private:
  struct Held {
    GenerationSpec spec;
    ToyContext context;
    int32_t length = 0;
    LogitsProcessor logits_processor;
    std::vector<TreeNode> drafted = {};   // the last tree
    std::vector<uint64_t> features = {};  // of the tokens that come next
    void add(TokenId token);
  };
  DraftTree grow(const Held& held, const StopRule& rule);
  RowSampling row(const Held& held) const;
  void logits(const Held& held, std::span<float> out) const;  // [kToyVocabulary] of the next token

  ToyDistribution distribution_;
  std::optional<double> odd_noise_;
  double siblings_;  // share of nodes that get the runner-up as a sibling
  RandomSource random_;
  std::map<DraftKey, Held> sequences_;
  uint64_t verdicts_ = 0, wrong_verdicts_ = 0, features_ = 0, wrong_features_ = 0;
  SamplingScratch scratch_;
};

}  // namespace slipstream::sim
