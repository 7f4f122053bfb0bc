#include "common/sampling/rank.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/sampling/fixed_weight.h"
#include "common/sampling/logprobs.h"
#include "common/sampling/race.h"

namespace slipstream {
namespace {

// The highest logits, lowest id first among equals, with their shares of the whole row.
size_t rank_logits(std::span<const float> logits, ChooseScratch& scratch, std::span<Ranked> out) {
  const RowScan scan = scan_row(logits, 1.0F, nullptr, scratch.bounds);
  if (!scan.finite) return 0;
  Podium<kRankedMax> podium;
  enter_logits(logits, scratch.bounds, podium);
  const auto places = podium.places();
  const auto total = static_cast<double>(total_weight(logits, scan.highest));
  const size_t count = std::min(out.size(), places.size());
  for (size_t i = 0; i < count; ++i) {
    const auto weight = static_cast<double>(fixed_weight(places[i].key - static_cast<double>(scan.highest)));
    out[i] = {places[i].token, static_cast<float>(weight / total)};
  }
  return count;
}

}  // namespace

size_t rank(std::span<const float> logits, const RowSampling& row, ChooseScratch& scratch, std::span<Ranked> out) {
  CHECK(out.size() <= kRankedMax, "{} candidates were asked for, {} can be ranked", out.size(), kRankedMax);
  const double temperature = row.params.temperature;
  if (temperature == 0) return rank_logits(logits, scratch, out);
  Race<kRankedMax> race(coupled_key(row));
  if (!run_row(logits, row, scratch, race)) return 0;
  const auto places = race.places();
  const auto weight_of = [&](const Entrant& e) { return fixed_weight(temperature * (e.key - places.front().key)); };
  uint64_t total = 0;
  for (const Entrant& entrant : places) total += weight_of(entrant);
  const size_t count = std::min(out.size(), places.size());
  for (size_t i = 0; i < count; ++i) {
    out[i] = {places[i].token, static_cast<float>(static_cast<double>(weight_of(places[i])) / static_cast<double>(total))};
  }
  return count;
}

}  // namespace slipstream
