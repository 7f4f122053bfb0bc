#include "tools/slipstream/voice.h"

#include <string>

#include <fmt/format.h>

#include "common/base/takes_a_line.h"

namespace slipstream::command {

void Voice::say(std::string_view line) {
  const std::lock_guard lock(mutex_);
  std::string text(line.substr(0, kLineBytesMax - 128));
  text += '\n';
  if (unsaid_ > 0) text = fmt::format("({} lines before this one were not said: nobody read them)\n", unsaid_) + text;
  // Not by fmt::print, which throws: a full disk behind stdout ends nobody.
  const bool said =
      takes_a_line(descriptor_) && write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  unsaid_ = said ? 0 : unsaid_ + 1;
}

}  // namespace slipstream::command
