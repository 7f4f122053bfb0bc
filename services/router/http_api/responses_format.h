// Writes answers in the shape of OpenAI's responses: a `response` object, whose output is a list of
// items, or a stream of events that tell how it grows.
//
//   response.created, response.in_progress
//   response.output_item.added             for each item, and for a message:
//     response.content_part.added, response.output_text.delta ... .done, response.content_part.done
//                                          (of reasoning: response.reasoning_text.delta, .done)
//                                          for a call of a tool:
//     response.function_call_arguments.delta, .done
//   response.output_item.done
//   response.completed, response.incomplete (cut at max_output_tokens) or response.failed
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "services/router/http_api/block_format.h"

namespace slipstream {

class ResponsesFormat final : public BlockFormat {
 public:
  // said_back: the fields of the request that a response repeats.
  ResponsesFormat(AnswerHead head, nlohmann::ordered_json said_back)
      : BlockFormat(std::move(head)), said_back_(std::move(said_back)) {}

  std::string begin(const AnswerState& state) override;
  std::string failure(const ApiError& error, const AnswerState& state) override;

 private:
  std::string opened(const Block& block) override;
  std::string grew(const Block& block, std::string_view added, std::span<const LogprobFacts> logprobs) override;
  std::string closed(const Block& block) override;
  std::string ended(const AnswerState& state) override;
  Json answer(const AnswerState& state) override;

  Json response(const char* status) const;
  static const char* status_of(const Block& block);  // that has closed
  Json item(const Block& block, const char* status) const;
  std::string item_id(const Block& block) const;
  // An event of this name, with its number. of: the block that it tells of.
  std::string told(const std::string& name, Json fields);
  std::string told(const std::string& name, const Block& of, Json fields);

  Json said_back_;
  uint64_t events_ = 0;
};

}  // namespace slipstream
