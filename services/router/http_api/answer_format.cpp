#include "services/router/http_api/answer_format.h"

#include <fmt/format.h>

namespace slipstream {

std::string AnswerFormat::begin(const AnswerState&) { return {}; }

// A comment, which clients skip.
std::string AnswerFormat::awake() { return ": the answer is on its way\n\n"; }

std::string event(std::string_view data) { return fmt::format("data: {}\n\n", data); }
std::string event(std::string_view name, std::string_view data) { return fmt::format("event: {}\ndata: {}\n\n", name, data); }

}  // namespace slipstream
