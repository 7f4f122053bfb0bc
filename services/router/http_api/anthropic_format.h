// Writes answers in the shape of Anthropic's messages: a `message` whose content is a list of
// blocks, or a stream of events that tell how it grows.
//
//   message_start
//   content_block_start, content_block_delta ..., content_block_stop     for each block
//   message_delta (why it ended, usage), message_stop                    or error
//
// A ping shows that the stream is awake.
#pragma once

#include <string>
#include <utility>

#include "services/router/http_api/block_format.h"

namespace slipstream {

class AnthropicFormat final : public BlockFormat {
 public:
  explicit AnthropicFormat(AnswerHead head) : BlockFormat(std::move(head)) {}

  ErrorShape error_shape() const override { return ErrorShape::anthropic; }
  std::string begin(const AnswerState& state) override;
  std::string awake() override;
  std::string failure(const ApiError& error, const AnswerState& state) override;

 private:
  std::string opened(const Block& block) override;
  std::string grew(const Block& block, std::string_view added, std::span<const LogprobFacts> logprobs) override;
  std::string closed(const Block& block) override;
  std::string ended(const AnswerState& state) override;
  Json answer(const AnswerState& state) override;

  Json message(const AnswerState& state) const;  // without what its end tells
  Json content_block(const Block& block) const;
};

}  // namespace slipstream
