#include "services/router/http_api/priority_fields.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace slipstream {
namespace {

constexpr std::string_view kUsual = "default";

struct Tier {
  std::string_view name;
  int32_t priority = 0;
};
constexpr std::array<Tier, 6> kTiers{
    {{"auto"}, {kUsual}, {"flex", kTierPriority}, {"priority", -kTierPriority}, {"scale"}, {"standard_only"}}};

}  // namespace

ApiResult<void> read_priority(const RequestFields& fields, GenerationRequest& request) {
  TRY(const auto asked, fields.text("service_tier"));
  if (asked) {
    const auto* tier = std::ranges::find(kTiers, *asked, &Tier::name);
    if (tier == kTiers.end())
      return std::unexpected(bad_field(
          "service_tier", fmt::format("`service_tier` must be auto, default, flex, priority or scale; it is \"{}\".", *asked)));
    request.priority = tier->priority;
    request.service_tier = tier->priority == 0 ? kUsual : tier->name;
  }
  TRY(const auto priority, fields.integer("priority", -kPriorityMost, kPriorityMost));
  if (priority) request.priority = static_cast<int32_t>(*priority);
  return {};
}

void take_no_precedence(GenerationRequest& request) {
  if (request.priority >= 0) return;
  request.priority = 0;
  if (!request.service_tier.empty()) request.service_tier = kUsual;
  request.warnings.emplace_back(
      "The request was served at priority 0: this API key may not go before others (the word priority behind it in the "
      "router's file of API keys lets it).");
}

}  // namespace slipstream
