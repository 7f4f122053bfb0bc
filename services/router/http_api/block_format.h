// The format of an API whose answers are lists of blocks: what the model thought, then text and
// calls of tools in the order in which it wrote them. An answer has one choice.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "services/router/http_api/answer_format.h"

namespace slipstream {

class BlockFormat : public AnswerFormat {
 public:
  std::string whole(const AnswerState& state) final;
  std::string news(int index, const AnswerState& state) final;

 protected:
  using Json = nlohmann::ordered_json;
  enum class Kind : uint8_t { reasoning, text, call };
  struct Block {
    Kind kind = Kind::text;
    size_t index = 0;
    std::string text;                         // so far; of a call its arguments, a JSON object
    std::string tool = {};                    // that a call names
    bool cut = false;                         // the answer ended inside
    std::vector<LogprobFacts> logprobs = {};  // of a text, if they were asked for
  };

  explicit BlockFormat(AnswerHead head) : head_(std::move(head)) {}

  // The events of a stream. A block closes before the next one opens.
  virtual std::string opened(const Block& block) = 0;
  // logprobs: of the tokens of a text that was added, if they were asked for.
  virtual std::string grew(const Block& block, std::string_view added, std::span<const LogprobFacts> logprobs) = 0;
  virtual std::string closed(const Block& block) = 0;
  virtual std::string ended(const AnswerState& state) = 0;  // after all blocks have closed
  // The answer itself.
  virtual Json answer(const AnswerState& state) = 0;

  const AnswerHead& head() const { return head_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  std::string call_id(std::string_view prefix, const Block& block) const;  // unlike all others'
  // `slipstream` and `metrics` of the answer.
  void add_facts(Json& answer, const AnswerState& state) const;

 private:
  std::string read(const Choice& choice);
  std::string add_reasoning(const Choice& choice);
  // The text of the choice from `told` to `end`.
  std::string add_text(const Choice& choice, size_t told, size_t end);
  std::string add_call(const ToolCall& call);
  std::string open(Block block);
  std::string grow(std::string_view added, std::vector<LogprobFacts> logprobs = {});
  std::string close();

  AnswerHead head_;
  std::vector<Block> blocks_ = {};
  bool open_ = false;                              // the last block is
  std::string space_ = {};                         // since the last block closed: it begins a text, or is none
  std::vector<LogprobFacts> space_logprobs_ = {};  // of its tokens
  TokenFacts tokens_ = {};                         // of the whole answer, if they were asked for
  std::vector<TreeFacts> trees_ = {};              // of its end, as many as were asked for
};

}  // namespace slipstream
