// Drafts what the target will say, because it was told: each sequence whose tokens begin one of the known answers gets the rest
// of that answer as a chain of the full budget. Of the nodes that the target reaches, all must be accepted.
#pragma once

#include <filesystem>
#include <optional>
#include <unordered_map>
#include <vector>

#include "services/drafter/method.h"

namespace slipstream {

struct KnownAnswer {
  std::vector<TokenId> tokens;   // prompt and output
  std::optional<uint64_t> seed;  // none: whatever the seed
};

// A JSON list; each entry is a list of token ids, or {"tokens": [...], "seed": 7}.
Result<std::vector<KnownAnswer>> read_answers(const std::filesystem::path& file);

class OracleMethod final : public Method {
 public:
  explicit OracleMethod(std::vector<KnownAnswer> answers) : answers_(std::move(answers)) {}
  std::string_view name() const override { return "oracle"; }
  Needs needs() const override { return {}; }
  void begin(const DraftKey& key, const SequenceInfo& info) override { sequences_[key] = {.seed = info.seed, .tokens = {}}; }
  void advance(const DraftKey& key, std::span<const TokenId> tokens) override;
  std::vector<TokenTree> draft(std::span<const DraftAsk> asks) override;
  void end(const DraftKey& key) override { sequences_.erase(key); }

 private:
  struct Sequence {
    uint64_t seed = 0;
    std::vector<TokenId> tokens;
  };
  TokenTree continuation(const Sequence& sequence, const StopRule& rule) const;

  std::vector<KnownAnswer> answers_;
  std::unordered_map<DraftKey, Sequence> sequences_;
};

}  // namespace slipstream
