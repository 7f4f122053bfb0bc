#include "services/router/http_api/speculation_fields.h"

#include <algorithm>
#include <array>

#include <fmt/ranges.h>

#include "common/base/names.h"
#include "common/messages/rules.h"

namespace slipstream {
namespace {

constexpr std::string_view kEnabled = "enabled";
constexpr std::array<std::string_view, 9> kKeys{kEnabled,   "rule",     "drafter", "nodes", "depth",
                                                "siblings", "lenience", "epsilon", "delta"};

// A key that the chosen rule does not have is an error.
ApiResult<void> check_keys(const RequestFields& fields, const RuleFields& has) {
  for (const auto& field : fields.object()) {
    const std::string_view key = field.key;
    if (std::ranges::find(kKeys, key) == kKeys.end()) {
      return std::unexpected(bad_field(
          fields.name(key), fmt::format("`{}` is unknown: `speculation` takes {}.", fields.name(key), fmt::join(kKeys, ", "))));
    }
    const bool parameter = key == "siblings" || key == "lenience" || key == "epsilon" || key == "delta";
    const bool fits = key == has.strength || key == has.delta || (key == "siblings" && has.siblings);
    if (parameter && !fits && !field.value.is_null()) {
      return std::unexpected(
          bad_field(fields.name(key),
                    fmt::format("`{}` does not go with the rule `{}`: leave one of them out.", fields.name(key), has.rule)));
    }
  }
  return {};
}

// With {"enabled": false}, any other key is an error, because it says how to use drafts.
ApiResult<void> check_alone(const RequestFields& fields) {
  for (const auto& field : fields.object()) {
    if (field.key == kEnabled || field.value.is_null()) continue;
    return std::unexpected(bad_field(fields.name(field.key),
                                     fmt::format("`{}` says how drafts are used, and `{}` is false: leave one of them out.",
                                                 fields.name(field.key), fields.name(kEnabled))));
  }
  return {};
}

constexpr double kLenienceLeast = 1e-6;  // 0 would accept every draft, and would be a divisor

// The meaning of a parameter that declares a bias, for errors.
std::string_view meaning(std::string_view key, std::string_view rule) {
  if (key == "delta") return "times exp(-entropy), the other probability below which drafts are refused; the lesser holds";
  return rule == "typical" ? "the probability below which drafts are refused (0 accepts all that can be: most bias)"
                           : "how far it may stray";
}

// Reads a parameter that has no default, because it says how much bias the client accepts.
ApiResult<float> declared(const RequestFields& fields, std::string_view key, std::string_view rule) {
  TRY(const auto value, fields.number(key, key == "lenience" ? kLenienceLeast : 0, 1));
  if (value) return static_cast<float>(*value);
  return std::unexpected(
      bad_field(fields.name(key), fmt::format("the rule `{}` needs `{}`: {}.", rule, fields.name(key), meaning(key, rule))));
}

}  // namespace

ApiResult<Speculation> read_speculation(const RequestFields& body, const std::vector<std::string>& allowed) {
  Speculation wanted;
  TRY(const auto fields, body.object("speculation"));
  if (!fields) return wanted;
  TRY(const auto rule, fields->text("rule"));
  const std::string_view name = rule.value_or("coupled");
  const auto known = std::ranges::find(kRuleFields, name, &RuleFields::rule);
  if (known == kRuleFields.end() || std::ranges::find(allowed, name) == allowed.end()) {
    const bool unknown = known == kRuleFields.end();
    return std::unexpected(bad_field(
        "speculation.rule",
        fmt::format("the rule `{}` is {} here: choose one of {}{}.", name, unknown ? "unknown" : "not allowed",
                    fmt::join(allowed, ", "), unknown ? "" : "; whoever runs the server allows others with --rules")));
  }
  TRY_VOID(check_keys(*fields, *known));
  TRY(const auto enabled, fields->boolean(kEnabled));
  wanted.enabled = enabled.value_or(true);
  if (!wanted.enabled) TRY_VOID(check_alone(*fields));
  TRY(const auto siblings, fields->integer("siblings", 1, kSiblingsMax));
  if (name == "traversal" && siblings == 1) {
    return std::unexpected(bad_field("speculation.siblings",
                                     "`speculation.siblings` must be 2 at least with the rule "
                                     "`traversal`; on a chain it is `block`: ask for that."));
  }
  wanted.acceptance = *acceptance_named(name, siblings ? std::optional(static_cast<uint8_t>(*siblings)) : std::nullopt);
  if (!known->strength.empty()) {
    TRY(wanted.acceptance.strength, declared(*fields, known->strength, name));
  }
  if (!known->delta.empty()) {
    TRY(wanted.acceptance.delta, declared(*fields, known->delta, name));
  }
  TRY(const auto nodes, fields->integer("nodes", 0, kTreeNodesMax));
  TRY(const auto depth, fields->integer("depth", 0, kTreeDepthMax));
  wanted.nodes_max = static_cast<uint16_t>(nodes.value_or(kTreeNodesMax));
  wanted.depth_max = static_cast<uint16_t>(depth.value_or(kTreeDepthMax));
  TRY(const auto drafter, fields->text("drafter"));
  if (drafter && (drafter->empty() || drafter->size() > kTextBytesMax)) {
    return std::unexpected(bad_field("speculation.drafter", "`speculation.drafter` must be a method's name, such as `ngram`."));
  }
  wanted.drafter = drafter.value_or("");
  return wanted;
}

}  // namespace slipstream
