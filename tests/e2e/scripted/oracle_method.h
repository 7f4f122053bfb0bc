// Drafts what the target will say, because it was told, or was there when the same was asked
// before: each sequence whose tokens begin a known answer gets the rest of that answer as a chain
// of the full budget. Of the nodes that the target reaches, all must be accepted.
#pragma once

#include <filesystem>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/drafting/method.h"

namespace slipstream {

inline constexpr size_t kAnswersMax = 4096;

struct KnownAnswer {
  std::vector<TokenId> tokens;         // prompt and output
  std::optional<uint64_t> seed;        // none: whatever the seed
  std::optional<GenerationSpec> spec;  // of one that it saw: only for a sequence of the same parameters
};

// A JSON list; each entry is a list of token ids, or {"tokens": [...], "seed": 7}.
Result<std::vector<KnownAnswer>> read_answers(const std::filesystem::path& file);

class OracleMethod final : public Method {
 public:
  explicit OracleMethod(std::vector<KnownAnswer> answers) : answers_(std::move(answers)) {}
  std::string_view name() const override { return "oracle"; }
  void begin(const DraftKey& key, const GenerationSpec& spec) override { sequences_[key] = {.spec = spec, .tokens = {}}; }
  void advance(const DraftKey& key, std::span<const TokenId> tokens) override;
  Result<std::vector<Draft>> draft(std::span<const DraftAsk> asks) override;
  void end(const DraftKey& key) override;  // remembers it

 private:
  struct Sequence {
    GenerationSpec spec;
    std::vector<TokenId> tokens;
  };
  TokenTree continuation(const Sequence& sequence, const StopRule& rule) const;

  std::vector<KnownAnswer> answers_;
  std::unordered_map<DraftKey, Sequence> sequences_;
};

}  // namespace slipstream
