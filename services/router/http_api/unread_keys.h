// Finds the keys of messages and their parts that nobody uses. Each is named once, where it is met
// first: a client that sends one sends it in every message.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "services/router/http_api/request_fields.h"

namespace slipstream {

class UnreadKeys {
 public:
  // ignored: gets the names, and outlives this; at most kIgnoredNamedMax.
  explicit UnreadKeys(std::vector<std::string>& ignored) : ignored_(ignored) {}

  // Of an object whose other keys were asked for. What says nothing (null, false, an empty list or
  // object) is no key that a client would miss: many send back all that an answer has.
  void note(const RequestFields& fields);

 private:
  std::vector<std::string>& ignored_;
  std::set<std::string, std::less<>> told_;
};

}  // namespace slipstream
