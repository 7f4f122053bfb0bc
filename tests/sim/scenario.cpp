#include "tests/sim/scenario.h"

#include <algorithm>

#include <fmt/format.h>

namespace slipstream::sim {
namespace {

using std::chrono::milliseconds;

constexpr Time kBeginsMost = milliseconds(800);
constexpr int kSoakOfEach = 2;  // routers, verifiers, drafters of a soak
constexpr int kSoakWavesPerFaults = 10;

Climate draw_climate(RandomSource& dice) {
  Climate climate;
  for (Weather& weather : climate) {
    if (dice.chance(0.3)) continue;  // fair
    const double harshness = dice.share();
    weather.lost = 0.1 * harshness * dice.share();
    weather.doubled = 0.1 * harshness * dice.share();
    weather.reordered = 0.1 * harshness * dice.share();
    weather.delayed = 0.1 * harshness * dice.share();
    weather.usual_most = Time(dice.between(100, 3000));
  }
  return climate;
}

// rush: when all ask at about the same time.
Ask draw_ask(RandomSource& dice, int routers, std::optional<Time> rush) {
  Ask ask{.when = rush ? *rush + dice.between(Time(0), Time(milliseconds(100))) : dice.between(Time(0), kRequestsEnd),
          .router = static_cast<int>(dice.between(0, routers - 1)),
          .prompt = std::vector<TokenId>(static_cast<size_t>(dice.between(1, dice.chance(0.2) ? 80 : 12))),
          .sampling = {.temperature = 0},
          .seed = dice.word(),
          .output_max = static_cast<int32_t>(dice.between(1, dice.chance(0.5) ? 20 : 90))};
  ask.output_max = std::min(ask.output_max, kToyContext - static_cast<int32_t>(ask.prompt.size()));
  for (TokenId& token : ask.prompt) token = static_cast<TokenId>(dice.between(1, kToyVocabulary - 1));
  if (dice.chance(0.6)) {
    ask.sampling.temperature = dice.chance(0.5) ? 1.0F : 0.5F;
    if (dice.chance(0.3)) ask.sampling.top_p = 0.9F;
    if (dice.chance(0.2)) ask.sampling.top_k = 8;
  }
  if (dice.chance(0.1)) ask.output_max = 0;
  if (dice.chance(0.5)) ask.stop_ids = {kToyStop};
  ask.speculate = !dice.chance(0.1);
  if (dice.chance(0.15)) ask.patience = dice.between(Time(0), Time(milliseconds(1500)));
  return ask;
}

// Never so much that no token is left.
void draw_adjustments(Ask& ask, RandomSource& dice) {
  if (!dice.chance(0.35)) return;
  Adjustments& how = ask.adjustments;
  if (dice.chance(0.6)) how.repetition_penalty = dice.chance(0.5) ? 1.3F : 0.8F;
  if (dice.chance(0.4)) how.presence_penalty = static_cast<float>(4 * dice.share() - 2);
  if (dice.chance(0.4)) how.frequency_penalty = static_cast<float>(4 * dice.share() - 2);
  const auto token = [&] { return static_cast<TokenId>(dice.between(1, kToyVocabulary - 1)); };
  if (dice.chance(0.3)) how.bias = {{token(), dice.chance(0.5) ? 3.0F : -3.0F}};
  how.min_tokens = dice.chance(0.3) ? static_cast<int32_t>(dice.between(1, 30)) : 0;
  if (how.min_tokens > 0) how.end_ids = ask.stop_ids;
  for (int words = dice.chance(0.3) ? 3 : 0; words > 0; --words) {
    how.bad_words.push_back({token(), token()});
    if (dice.chance(0.5)) how.bad_words.back().push_back(token());
  }
  if (!dice.chance(0.2)) return;
  for (TokenId id = 0; id < kToyVocabulary; ++id) {
    if (id < 8 || dice.chance(0.5)) how.allowed.push_back(id);
  }
}

Fault draw_fault(RandomSource& dice, std::span<const Machine> machines, std::optional<Time> rush) {
  Fault fault{.what = static_cast<Fault::What>(dice.between(0, 4)),
              .when = dice.between(Time(milliseconds(100)), kFaultsEnd - milliseconds(500)),
              .whom = dice.pick(machines),
              .from = dice.pick(machines)};
  if (rush) fault.when = std::min(*rush + dice.between(Time(0), Time(milliseconds(1500))), kFaultsEnd - milliseconds(500));
  const Time rest = kFaultsEnd - fault.when;
  const Time longest = dice.chance(0.5) ? milliseconds(300) : milliseconds(4000);
  fault.lasts = dice.between(Time(milliseconds(1)), std::min(rest, longest));
  fault.factor = static_cast<double>(dice.between(2, 60));
  return fault;
}

// A verifier that joins while the others have more than enough to do.
void draw_joiner(Scenario& s, RandomSource& dice, std::optional<Time> rush) {
  if (s.verifiers.size() < 2 || !rush || !dice.chance(0.4)) return;
  s.begins[static_cast<size_t>(s.routers) + s.verifiers.size() - 1] = *rush + dice.between(Time(0), Time(milliseconds(800)));
  if (s.calm() || s.rolling) return;
  for (int i = 0; i + 1 < static_cast<int>(s.verifiers.size()); ++i) {
    s.faults.push_back({.what = Fault::What::slow,
                        .when = *rush,
                        .lasts = std::min<Time>(milliseconds(3000), kFaultsEnd - *rush),
                        .whom = {Kind::verifier, i},
                        .from = {},
                        .factor = static_cast<double>(dice.between(3, 20))});
  }
  std::ranges::sort(s.faults, {}, &Fault::when);
}

// Prompts with one long beginning, as a system prompt is.
void draw_shared_prompt(Scenario& s, RandomSource& dice) {
  if (!dice.chance(0.25)) return;
  std::vector<TokenId> shared(static_cast<size_t>(dice.between(64, 70)));
  for (TokenId& token : shared) token = static_cast<TokenId>(dice.between(1, kToyVocabulary - 1));
  for (Ask& ask : s.asks) {
    if (dice.chance(0.4)) continue;
    ask.prompt.resize(std::min<size_t>(ask.prompt.size(), 12));
    ask.prompt.insert(ask.prompt.begin(), shared.begin(), shared.end());
    ask.output_max = std::min(ask.output_max, kToyContext - static_cast<int32_t>(ask.prompt.size()));
  }
}

// One verifier whose compute job never ends, while it heartbeats: others can take its work.
void draw_hang(Scenario& s, RandomSource& dice) {
  const bool others = s.verifiers.size() > 1 && std::ranges::none_of(s.verifiers, &VerifierTraits::other_numerics);
  if (s.calm() || s.rolling || !others || !dice.chance(0.3)) return;
  s.verifier_wait_ms = 10'000;
  s.faults.push_back({.what = Fault::What::hang,
                      .when = dice.between(Time(milliseconds(100)), kRequestsEnd),
                      .lasts = {},
                      .whom = {Kind::verifier, static_cast<int>(dice.between(0, std::ssize(s.verifiers) - 1))},
                      .from = {}});
  std::ranges::sort(s.faults, {}, &Fault::when);
}

}  // namespace

Scenario Scenario::draw(uint64_t seed) {
  RandomSource dice(seed, "scenario");
  Scenario s{.seed = seed};
  s.routers = dice.chance(0.6) ? 1 : static_cast<int>(dice.between(2, 3));
  const bool two_numerics = dice.chance(0.2);
  s.verifiers.resize(static_cast<size_t>(dice.between(1, 3)));
  for (VerifierTraits& verifier : s.verifiers) {
    verifier.other_numerics = two_numerics && dice.chance(0.5);
    verifier.cache_blocks = static_cast<int32_t>(dice.chance(0.3) ? dice.between(7, 10) : 64);
    verifier.step_rows_max = static_cast<int32_t>(dice.chance(0.3) ? dice.between(8, 40) : 256);
  }
  s.drafters.resize(static_cast<size_t>(dice.between(0, 3)));
  const bool honest = dice.chance(0.3);
  for (DrafterTraits& drafter : s.drafters) {
    if (!honest) drafter.noise = dice.chance(0.3) ? 1 : dice.share() * 0.6;
    if (!honest) drafter.siblings = dice.share() * 0.5;
    drafter.new_endpoint = dice.chance(0.5);
    drafter.runs_ahead = dice.chance(0.4);
    if (dice.chance(0.3)) drafter.mischief = dice.share() * 0.5;
    drafter.misplaced = honest || dice.chance(0.5);
  }
  std::vector<Machine> machines;
  for (int i = 0; i < s.routers; ++i) machines.push_back({Kind::router, i});
  for (int i = 0; i < static_cast<int>(s.verifiers.size()); ++i) machines.push_back({Kind::verifier, i});
  for (int i = 0; i < static_cast<int>(s.drafters.size()); ++i) machines.push_back({Kind::drafter, i});
  for (size_t i = 0; i < machines.size(); ++i) s.begins.push_back(dice.between(Time(0), kBeginsMost));
  s.climate = draw_climate(dice);
  s.wait_share = dice.chance(0.5) ? 0.05 : 1000;
  s.verifier_wait_ms = dice.chance(0.2) ? 1500 : 10'000;
  std::optional<Time> rush;
  if (dice.chance(0.6)) rush = dice.between(Time(milliseconds(300)), kRequestsEnd - milliseconds(500));
  s.asks.resize(static_cast<size_t>(dice.between(1, 16)));
  for (Ask& ask : s.asks) ask = draw_ask(dice, s.routers, rush);
  std::ranges::sort(s.asks, {}, &Ask::when);
  s.faults.resize(dice.chance(0.15) ? 0 : static_cast<size_t>(dice.between(1, 14)));
  for (Fault& fault : s.faults) fault = draw_fault(dice, machines, rush);
  std::erase_if(s.faults, [](const Fault& f) { return f.what == Fault::What::separate && f.whom.kind == f.from.kind; });
  std::ranges::sort(s.faults, {}, &Fault::when);
  s.rolling = dice.chance(0.15);
  if (s.rolling) {
    s.climate = {};
    s.verifier_wait_ms = 10'000;
    for (Fault& fault : s.faults) fault.what = Fault::What::drain;
  }
  draw_joiner(s, dice, rush);
  draw_shared_prompt(s, dice);
  draw_hang(s, dice);
  RandomSource own(seed, "adjustments");
  for (Ask& ask : s.asks) draw_adjustments(ask, own);
  RandomSource rules(seed, "rules");
  for (Ask& ask : s.asks) {
    if (rules.chance(0.3)) ask.rule = rules.chance(0.5) ? Rule::ratio : Rule::traversal;
  }
  return s;
}

Scenario Scenario::soak(uint64_t seed, int waves) {
  Scenario s = draw(seed);
  s.routers = kSoakOfEach;
  s.verifiers.assign(kSoakOfEach, {.cache_blocks = 10, .step_rows_max = 256});
  s.drafters.resize(kSoakOfEach, {.noise = 0.3, .siblings = 0.2});
  s.begins.assign(3 * kSoakOfEach, Time(0));
  s.verifier_wait_ms = 10'000;
  s.rolling = false;
  s.asks.clear();
  s.faults.clear();
  s.waves = waves;
  for (int wave = 0; wave < waves; ++wave) {
    const Scenario one = draw(seed + static_cast<uint64_t>(wave));
    for (Ask ask : one.asks) {
      ask.when += wave * kWaveEvery;
      ask.router %= s.routers;
      s.asks.push_back(std::move(ask));
    }
    if (wave % kSoakWavesPerFaults != 0) continue;
    for (Fault fault : one.faults) {
      fault.when += wave * kWaveEvery;
      fault.whom.index %= kSoakOfEach;
      fault.from.index %= kSoakOfEach;
      if (fault.what != Fault::What::hang) s.faults.push_back(fault);  // who hangs comes round at a world's end only
    }
  }
  return s;
}

std::string Scenario::text() const {
  std::string text =
      fmt::format("seed {}: {} routers, {} verifiers, {} drafters, {} requests, {} faults{}\n", seed, routers, verifiers.size(),
                  drafters.size(), asks.size(), faults.size(), rolling ? ", rolling restarts" : "");
  for (size_t i = 0; i < verifiers.size(); ++i) {
    text += fmt::format("  verifier {}: {} cache blocks, {} rows a step{}\n", i, verifiers[i].cache_blocks,
                        verifiers[i].step_rows_max, verifiers[i].other_numerics ? ", other numerics" : "");
  }
  for (size_t i = 0; i < drafters.size(); ++i) {
    text += fmt::format("  drafter {}: noise {:.2f}, mischief {:.2f}{}{}{}\n", i, drafters[i].noise, drafters[i].mischief,
                        drafters[i].misplaced ? " (fences)" : "", drafters[i].runs_ahead ? ", runs ahead" : "",
                        drafters[i].new_endpoint ? ", new endpoints" : "");
  }
  const char* boundaries[] = {"control", "generate", "draft"};
  for (size_t i = 0; i < climate.size(); ++i) {
    text += fmt::format("  {:<8} lost {:.1f} %, doubled {:.1f} %, reordered {:.1f} %, delayed {:.1f} %\n", boundaries[i],
                        100 * climate[i].lost, 100 * climate[i].doubled, 100 * climate[i].reordered, 100 * climate[i].delayed);
  }
  return text;
}

}  // namespace slipstream::sim
