// A conversation as it was held: the system message, and each question with its answer. It gives
// the messages that the next request carries, and the texts that /save writes. Pure.
//
//   conversation.add({"Why is the sky blue?", "Because ...", ""});
//   question.history = conversation.messages();
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/slipstream/chat_client.h"

namespace slipstream::command::chat {

struct Turn {
  std::string question, answer;
  std::string cut;  // why the answer has no end: "stopped"; "": it is whole
};

class Conversation {
 public:
  std::string system;  // a message before all others; "": none

  void add(Turn turn) { turns_.push_back(std::move(turn)); }
  // Forgets the last turn and returns its question. nullopt: there is none.
  std::optional<std::string> take_back();
  void clear() { turns_.clear(); }  // the system message stays

  std::span<const Turn> turns() const { return turns_; }
  std::vector<Message> messages() const;  // without the system message

  std::string markdown(const std::string& model) const;
  // {"model", "messages": [{"role", "content"}]}: the body of a request, which goes on from here. A
  // message that was cut has "cut" with the reason.
  std::string json(const std::string& model) const;

 private:
  std::vector<Turn> turns_;
};

}  // namespace slipstream::command::chat
