// Writes the body of a chat request which says what a request of another API says. So there is one
// reader of all fields, parse_chat_request(); another API only says which field of a chat each of
// its own is. What is wrong with a value, the chat's reader finds, and names the API's own field.
//
//   ChatBody chat(fields);
//   chat.add("max_tokens", "max_output_tokens");              // the same under another name
//   chat.turn("user", "input").content = as_json("Hello");
//   return chat.parse(offer);
//
// Pure. `fields` must outlive it.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/router/http_api/chat_request.h"
#include "services/router/http_api/field_names.h"
#include "services/router/http_api/offer.h"
#include "services/router/http_api/request_fields.h"
#include "services/router/http_api/unread_keys.h"

namespace slipstream {

std::string as_json(std::string_view text);  // as JSON
// An object or a list of parts that are JSON already.
class JsonObject {
 public:
  JsonObject& add(std::string_view name, std::string_view json);
  JsonObject& add_if(std::string_view name, const std::optional<std::string>& json);  // nullopt: it is left out
  std::string text() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};
std::string json_list(const std::vector<std::string>& parts);

// The JSON of a field; nullopt: it is absent or null.
std::optional<std::string> raw(const RequestFields& fields, std::string_view name);

class ChatBody {
 public:
  explicit ChatBody(const RequestFields& fields) : fields_(fields) {}
  ChatBody(const ChatBody&) = delete;
  ChatBody& operator=(const ChatBody&) = delete;

  struct Turn {  // a message; all but the role is JSON, or left out
    std::string role;
    std::optional<std::string> content = {}, reasoning = {}, call_id = {};
    std::vector<std::string> calls = {};
  };
  // own: what the API calls it, in errors.
  Turn& turn(std::string role, std::string own);
  // The turn before if it is the assistant's, else a new one: what a model says and calls in one
  // answer is one message, and other APIs list it piece by piece.
  Turn& assistant(std::string own);
  // A call of a tool in the newest turn.
  void call(const RequestFields& from, std::string_view id, std::string_view arguments, std::string own);
  std::string newest() const;  // the newest turn, as a chat's errors call it

  // A field of the chat, from the API's field `own`, or made from it.
  void add(std::string_view chats, std::string_view own);
  void add_json(std::string_view chats, std::string_view json, std::string_view own);
  // The form of the answer, as a field of `fields` has it: {"type", "schema", ...}, without the
  // "json_schema" that a chat has around all but the type.
  ApiResult<void> add_format(const RequestFields& fields, std::string_view field);
  // Whether the model thinks first, if its template leaves the choice and the request does not say
  // it there.
  void think(bool first, std::string_view own);
  void warn(std::string sentence) { warnings_.push_back(std::move(sentence)); }
  void ignore(std::string_view own) { ignored_.emplace_back(own); }  // a field that is not used
  // Those of an object that nothing has read; of the pieces of the messages each once.
  void ignore_unread(const RequestFields& fields) { fields.note_unread(ignored_); }
  void ignore_unread_of_piece(const RequestFields& piece) { unread_.note(piece); }

  // Fields that nothing has read here are the chat's, but for those whose form each API has its own
  // of. Errors name the fields as the API does.
  ApiResult<ChatRequest> parse(const Offer& offer);
  FieldNames names;

 private:
  std::string messages() const;

  const RequestFields& fields_;
  JsonObject body_;
  std::deque<Turn> turns_;
  std::vector<std::string> ignored_, warnings_;
  UnreadKeys unread_{ignored_};
};

}  // namespace slipstream
