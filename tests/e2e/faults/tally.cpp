#include "tests/e2e/faults/tally.h"

#include <fstream>

#include <nlohmann/json.hpp>

namespace slipstream::faults {
namespace {

using nlohmann::ordered_json;

constexpr std::array<const char*, 3> kBoundaries{"control", "generate", "draft"};
constexpr std::array<const char*, 2> kDirections{"to_upstream", "to_client"};

// Each field with its name, of counts and of a tally: one list for writing, reading and adding.
template <class C, class F>
void each_count(C& counts, F&& f) {
  f("messages", counts.messages);
  f("lost", counts.lost);
  f("doubled", counts.doubled);
  f("spikes", counts.spikes);
  f("delayed", counts.delayed);
  f("overtaken", counts.overtaken);
  f("gone", counts.gone);
}
template <class T, class F>
void each_total(T& tally, F&& f) {
  f("strange", tally.strange);
  f("connections", tally.connections);
  f("cuts", tally.cuts);
  f("refused", tally.refused);
}

}  // namespace

Counts& Counts::operator+=(const Counts& other) {
  messages += other.messages;
  lost += other.lost;
  doubled += other.doubled;
  spikes += other.spikes;
  delayed += other.delayed;
  overtaken += other.overtaken;
  gone += other.gone;
  return *this;
}

Counts Tally::sum() const {
  Counts sum;
  for (const auto& boundary : of) {
    for (const Counts& counts : boundary) sum += counts;
  }
  return sum;
}

Tally& Tally::operator+=(const Tally& other) {
  for (size_t b = 0; b < of.size(); ++b) {
    for (size_t d = 0; d < of[b].size(); ++d) of[b][d] += other.of[b][d];
  }
  strange += other.strange;
  connections += other.connections;
  cuts += other.cuts;
  refused += other.refused;
  return *this;
}

Result<void> write_tally(const std::filesystem::path& file, const Tally& tally) {
  ordered_json page;
  for (size_t b = 0; b < kBoundaries.size(); ++b) {
    for (size_t d = 0; d < kDirections.size(); ++d) {
      ordered_json& counts = page[kBoundaries[b]][kDirections[d]];
      each_count(tally.of[b][d], [&](const char* name, uint64_t value) { counts[name] = value; });
    }
  }
  each_total(tally, [&](const char* name, uint64_t value) { page[name] = value; });
  const std::filesystem::path beside = file.string() + ".new";
  std::ofstream out(beside);
  out << page.dump(2) << '\n';
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(beside, file, error);
  if (!out || error) return fail("cannot write {}; is its folder there and writable?", file.string());
  return {};
}

Result<Tally> read_tally(const std::filesystem::path& file) {
  std::ifstream in(file);
  const auto page = nlohmann::json::parse(in, nullptr, false);
  if (!page.is_object()) return fail("{} is no tally", file.string());
  Tally tally;
  for (size_t b = 0; b < kBoundaries.size(); ++b) {
    for (size_t d = 0; d < kDirections.size(); ++d) {
      const nlohmann::json& counts = page.at(kBoundaries[b]).at(kDirections[d]);
      each_count(tally.of[b][d], [&](const char* name, uint64_t& value) { value = counts.at(name); });
    }
  }
  each_total(tally, [&](const char* name, uint64_t& value) { value = page.at(name); });
  return tally;
}

}  // namespace slipstream::faults
