// Reads server-sent events out of pieces of text (WHATWG HTML, 9.2): lines end with LF, CRLF or CR;
// "data" lines of one event are joined by LF; comments and other fields are skipped; a blank line
// ends the event. Pure; not thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace slipstream::http {

class EventStream {
 public:
  using Event = std::function<bool(std::string_view data)>;  // false: no more, please

  // Gives each event that is complete now. false: `event` wants no more; the rest is dropped.
  bool feed(std::string_view piece, const Event& event);
  size_t bytes_held() const { return line_.size() + data_.size(); }  // of an event that has not ended

 private:
  bool end_line(const Event& event);

  std::string line_;
  std::string data_;
  bool has_data_ = false;
  bool after_return_ = false;  // an LF that comes now belongs to the CR before it
};

}  // namespace slipstream::http
