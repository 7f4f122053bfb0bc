// Tells who hangs from who is busy: a process that lets many looks in a row pass. Pure.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

namespace slipstream::command {

inline constexpr int kHangLooks = 20;  // in a row, without an answer

class HangWatch {
 public:
  // Another look at this life of a service, which has said that it is there. True, once a life: it hangs.
  bool hangs(const std::string& service, pid_t pid, bool answers) {
    Life& life = lives_[service];
    if (life.pid != pid) life = {.pid = pid};
    if (answers) life.looks = 0;
    return !answers && ++life.looks == kHangLooks;
  }

 private:
  struct Life {
    pid_t pid = -1;
    int looks = 0;  // without an answer since the last one
  };
  std::map<std::string, Life> lives_;
};

}  // namespace slipstream::command
