#include "common/runtime/log_note.h"

#include <array>
#include <string>

#include "common/base/log.h"
#include "common/base/sequence_name.h"

namespace slipstream {
namespace {

LogLevel level_of(const Note& note) {
  if (note.warning) return LogLevel::warning;
  return note.detail ? LogLevel::debug : LogLevel::info;
}

}  // namespace

void log_note(const Note& note) {
  const LogLevel level = level_of(note);
  if (!log_wants(level)) return;
  if (!note.sequence) return log_line(level, note.text);
  const std::string name = sequence_name(*note.sequence);
  const std::array fields{LogField{kSequenceField, name}};
  log_line(level, fmt::format("sequence {}: {}", name, note.text), fields);
}

}  // namespace slipstream
