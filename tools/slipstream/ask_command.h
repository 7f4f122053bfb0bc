// slipstream ask: one question to a running server, answered as it comes.
#pragma once

#include <string>

#include "common/base/result.h"
#include "tools/slipstream/answer.h"

namespace slipstream::command {

struct AskOptions {
  std::string url = "http://127.0.0.1:8080";
  bool plain = false;  // no colours, only the answer
  Question question;
};

Result<void> ask_command(const AskOptions& options);

}  // namespace slipstream::command
