// How an API calls the fields of a chat request. A request of another API is written as one of a
// chat, which all checks read; errors must name what the client has sent. Pure.
//
//   FieldNames names;
//   names.add("messages", "input");
//   names.add("messages[1]", "input[2]");
//   names.own("messages[1].content");  // "input[2].content"
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "services/router/http_api/api_error.h"

namespace slipstream {

class FieldNames {
 public:
  void add(std::string chats, std::string own) { own_.insert_or_assign(std::move(chats), std::move(own)); }
  // The longest name that begins `field` counts; a field without one keeps its name.
  std::string own(std::string_view field) const;
  // The error with all field names, in its param and `quoted` in its message, as the API has them.
  ApiError renamed(ApiError error) const;

 private:
  std::map<std::string, std::string, std::less<>> own_;
};

}  // namespace slipstream
