// What somebody in a chat can do about a question that failed. Pure.
#pragma once

#include <string>

#include "tools/slipstream/chat_client.h"

namespace slipstream::command::chat {

// A sentence without its end, such as "/clear forgets the chat so far"; "": nothing is known that
// helps.
std::string advice(const AskFailure& failure);

}  // namespace slipstream::command::chat
