#include "common/http/event_stream.h"

#include <utility>

namespace slipstream::http {

// CRLF may be cut between two pieces. So a CR ends the line at once, and after_return_ drops the LF
// that may follow; waiting for it would delay the event.
bool EventStream::feed(std::string_view piece, const Event& event) {
  while (!piece.empty()) {
    if (std::exchange(after_return_, false) && piece.front() == '\n') {
      piece.remove_prefix(1);
      continue;
    }
    const size_t end = piece.find_first_of("\r\n");
    line_ += piece.substr(0, end);
    if (end == std::string_view::npos) return true;
    after_return_ = piece[end] == '\r';
    piece.remove_prefix(end + 1);
    if (!end_line(event)) return false;
  }
  return true;
}

bool EventStream::end_line(const Event& event) {
  const std::string line = std::exchange(line_, {});
  if (line.empty()) {
    if (!std::exchange(has_data_, false)) return true;
    return event(std::exchange(data_, {}));
  }
  const size_t colon = line.find(':');
  if (line.substr(0, colon) != "data") return true;
  std::string_view value = colon == std::string::npos ? std::string_view() : std::string_view(line).substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (std::exchange(has_data_, true)) data_ += '\n';
  data_ += value;
  return true;
}

}  // namespace slipstream::http
