// Parses server-sent events from text that arrives in pieces (WHATWG HTML, 9.2). Pure; not
// thread-safe.
//
//   - Lines end with LF, CRLF or CR. A blank line ends an event.
//   - The "data" lines of one event are joined by LF.
//   - Comments and all other fields are skipped. An event without data is not given.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace slipstream::http {

class EventStream {
 public:
  using Event = std::function<bool(std::string_view data)>;  // returns false to stop

  // Calls `event` for each event that `piece` completes. False: `event` returned false, and the
  // rest of the piece is dropped.
  bool feed(std::string_view piece, const Event& event);
  size_t bytes_held() const { return line_.size() + data_.size(); }  // of the event that has not ended

 private:
  bool end_line(const Event& event);

  std::string line_;           // the line that has not ended
  std::string data_;           // of the event that has not ended
  bool has_data_ = false;      // it has a "data" line, perhaps an empty one
  bool after_return_ = false;  // the last byte was a CR: an LF that follows belongs to it
};

}  // namespace slipstream::http
