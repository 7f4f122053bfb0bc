#include "common/base/chain_rule.h"

#include <algorithm>
#include <charconv>

namespace slipstream {
namespace {

template <class Number>
bool read(std::string_view text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stopped == end;
}

bool is_share(float number) { return number > 0 && number < 1; }

}  // namespace

Result<ChainRule> read_chain_rule(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  const std::string_view kind = text.substr(0, colon), value = text.substr(std::min(colon + 1, text.size()));
  ChainRule rule;
  if (kind == "fixed" && read(value, rule.length_max) && rule.length_max >= 1 && rule.length_max <= kChainLengthMax)
    return rule;
  if (kind == "confidence" && read(value, rule.confidence_least) && is_share(rule.confidence_least)) return rule;
  if (kind == "entropy" && read(value, rule.bound_least) && is_share(rule.bound_least)) return rule;
  if (kind == "threshold" && read(value, rule.threshold) && is_share(rule.threshold)) return rule;
  return fail("\"{}\" is no rule for chains; write {}", text, kChainRuleForms);
}

}  // namespace slipstream
