// A program under a pseudo-terminal, as somebody at a keyboard runs it: what is typed goes to it as
// from a keyboard, Ctrl-C included, and what it shows can be waited for.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace slipstream::e2e {

class Terminal {
 public:
  static constexpr unsigned short kColumns = 120, kRows = 40;

  Terminal(const std::filesystem::path& program, const std::vector<std::string>& arguments);
  ~Terminal();  // kills it
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void type(std::string_view keys);
  // Waits until it has shown `text`, no longer than kWaitMax. What it shows from now on is looked
  // at only, and what is found is gone. Returns what came before and with it; throws if it never
  // comes.
  std::string until(std::string_view text);
  int wait();                                         // for its end; returns the exit status
  const std::string& rest() const { return shown_; }  // shown and not yet looked at

 private:
  bool read_more();  // false: it has ended

  pid_t pid_ = -1;
  int descriptor_ = -1;
  std::string shown_;
};

}  // namespace slipstream::e2e
