// Reads `messages` of a chat request: roles, and content as a string or as a list of text parts.
#pragma once

#include <string>
#include <vector>

#include "common/text/chat_template.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {

// `messages` of a body: at least one. The error says what it is instead.
ApiResult<simdjson::dom::array> message_list(const RequestFields& body);

// At least one message. Errors name the message and the part. ignored: gets the keys of messages
// and parts that are not used.
ApiResult<std::vector<ChatMessage>> read_messages(const RequestFields& body, std::vector<std::string>& ignored);

}  // namespace slipstream
