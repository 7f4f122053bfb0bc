#include "tools/slipstream/doctor/finding.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace slipstream::command::doctor {
namespace {

constexpr int kWhatColumns = 12;

std::string mark(Level level, const Palette& palette) {
  if (level == Level::ok) return palette.good("OK  ");
  return level == Level::warn ? palette.caution("WARN") : palette.trouble("FAIL");
}

size_t count(const Findings& findings, Level level) {
  return static_cast<size_t>(std::ranges::count(findings, level, &Finding::level));
}

}  // namespace

Finding ok(std::string what, std::string found) { return {Level::ok, std::move(what), std::move(found), {}}; }

Finding warn(std::string what, std::string found, std::string advice) {
  return {Level::warn, std::move(what), std::move(found), std::move(advice)};
}

Finding failed(std::string what, std::string found, std::string advice) {
  return {Level::fail, std::move(what), std::move(found), std::move(advice)};
}

std::string text_of(const Finding& finding, const Palette& palette) {
  std::string text = fmt::format("{}  {:<{}} {}\n", mark(finding.level, palette), finding.what, kWhatColumns, finding.found);
  if (!finding.advice.empty()) text += fmt::format("      {:<{}} do: {}\n", "", kWhatColumns, finding.advice);
  return text;
}

std::string summary(const Findings& findings) {
  const size_t fails = count(findings, Level::fail), warnings = count(findings, Level::warn);
  const std::string warned = fmt::format("{} warning{}", warnings, warnings == 1 ? "" : "s");
  if (fails == 0) return fmt::format("nothing fails, {}", warned);
  return fmt::format("{} of {} checks fail, {}", fails, findings.size(), warned);
}

bool any_fails(const Findings& findings) { return count(findings, Level::fail) > 0; }

}  // namespace slipstream::command::doctor
