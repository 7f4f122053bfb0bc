#include "tests/sim/scenario.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

namespace slipstream::sim {
namespace {

constexpr uint64_t kTunesEvery = 16;  // seeds: to write and read the pages takes longer than all else

using std::chrono::milliseconds;

constexpr Time kBeginsMost = milliseconds(800);
// Of the routers where processes only restart: longer than a lone verifier may drain and then be
// away, one restart after the other, until the faults end.
constexpr uint32_t kWaitsOutRestartsMs = 20'000;
constexpr int kSoakOfEach = 2;  // number of routers, of verifiers and of drafters of a soak
constexpr int kSoakWavesPerFaults = 10;

Climate draw_climate(RandomSource& random) {
  Climate climate;
  for (Weather& weather : climate) {
    if (random.chance(0.3)) continue;  // fair weather
    const double harshness = random.share();
    weather.lost = 0.1 * harshness * random.share();
    weather.doubled = 0.1 * harshness * random.share();
    weather.reordered = 0.1 * harshness * random.share();
    weather.delayed = 0.1 * harshness * random.share();
    weather.usual_most = Time(random.between(100, 3000));
  }
  return climate;
}

// rush: the time at which all clients ask, if they ask together.
Ask draw_ask(RandomSource& random, int routers, std::optional<Time> rush) {
  Ask ask{.when = rush ? *rush + random.between(Time(0), Time(milliseconds(100))) : random.between(Time(0), kRequestsEnd),
          .router = static_cast<int>(random.between(0, routers - 1)),
          .prompt = std::vector<TokenId>(static_cast<size_t>(random.between(1, random.chance(0.2) ? 80 : 12))),
          .sampling = {.temperature = 0},
          .seed = random.word(),
          .output_max = static_cast<int32_t>(random.between(1, random.chance(0.5) ? 20 : 90))};
  ask.output_max = std::min(ask.output_max, kToyContext - static_cast<int32_t>(ask.prompt.size()));
  for (TokenId& token : ask.prompt) token = static_cast<TokenId>(random.between(1, kToyVocabulary - 1));
  if (random.chance(0.6)) {
    ask.sampling.temperature = random.chance(0.5) ? 1.0F : 0.5F;
    if (random.chance(0.3)) ask.sampling.top_p = 0.9F;
    if (random.chance(0.2)) ask.sampling.top_k = 8;
  }
  if (random.chance(0.1)) ask.output_max = 0;
  if (random.chance(0.5)) ask.stop_ids = {kToyStop};
  ask.speculate = !random.chance(0.1);
  ask.scores = ask.seed % 4 == 0;  // no number of its own: seeds that show bugs keep their worlds
  if (random.chance(0.15)) ask.patience = random.between(Time(0), Time(milliseconds(1500)));
  return ask;
}

// Never forbids all tokens.
void draw_logits_params(Ask& ask, RandomSource& random) {
  if (!random.chance(0.35)) return;
  LogitsParams& how = ask.logits_params;
  if (random.chance(0.6)) how.repetition_penalty = random.chance(0.5) ? 1.3F : 0.8F;
  if (random.chance(0.4)) how.presence_penalty = static_cast<float>(4 * random.share() - 2);
  if (random.chance(0.4)) how.frequency_penalty = static_cast<float>(4 * random.share() - 2);
  const auto token = [&] { return static_cast<TokenId>(random.between(1, kToyVocabulary - 1)); };
  if (random.chance(0.3)) how.bias = {{token(), random.chance(0.5) ? 3.0F : -3.0F}};
  how.min_tokens = random.chance(0.3) ? static_cast<int32_t>(random.between(1, 30)) : 0;
  if (how.min_tokens > 0) how.stop_ids = ask.stop_ids;
  for (int words = random.chance(0.3) ? 3 : 0; words > 0; --words) {
    how.bad_words.push_back({token(), token()});
    if (random.chance(0.5)) how.bad_words.back().push_back(token());
  }
  if (!random.chance(0.2)) return;
  for (TokenId id = 0; id < kToyVocabulary; ++id) {
    if (id < 8 || random.chance(0.5)) how.allowed.push_back(id);
  }
}

// Of texts that are forced for a while, that leave a few choices, and that leave many. Masks of
// other kinds could forbid all that the grammar allows.
void draw_grammar(Ask& ask, RandomSource& random) {
  if (random.chance(0.3) || ask.rule != Rule::coupled) return;
  static constexpr std::array<std::string_view, 5> kGrammars{"(abcdefgh|abcij[k-w]{1,3}|no)(sun[a-w]{0,2}set)*",
                                                             "([a-h]{2,5}[m-p]|quick){1,40}", "[ab]{1,60}",
                                                             "(cab|cabbage|[d-w])+", "onceuponatimetherewasabadtoken"};
  ask.grammar = {GrammarForm::regex, std::string(random.pick(std::span<const std::string_view>(kGrammars)))};
  ask.stop_ids = {kToyStop};
  ask.logits_params.min_tokens = 0;
  ask.logits_params.stop_ids.clear();
  ask.logits_params.bad_words.clear();
  ask.logits_params.allowed.clear();
}

// How each answer is sampled and accepted, what form it has, and how urgent it is.
void draw_forms(std::span<Ask> asks, uint64_t seed) {
  RandomSource own(seed, "adjustments");
  for (Ask& ask : asks) draw_logits_params(ask, own);
  RandomSource rules(seed, "rules");
  for (Ask& ask : asks) {
    if (rules.chance(0.3)) ask.rule = rules.chance(0.5) ? Rule::ratio : Rule::traversal;
  }
  RandomSource priorities(seed, "priorities");
  for (Ask& ask : asks) {
    if (priorities.chance(0.3)) ask.priority = static_cast<int32_t>(priorities.between(-kPriorityMost, kPriorityMost));
  }
  RandomSource grammars(seed, "grammars");
  const bool some = grammars.chance(0.4);
  for (Ask& ask : asks) {
    if (some) draw_grammar(ask, grammars);
  }
}

Fault draw_fault(RandomSource& random, std::span<const Machine> machines, std::optional<Time> rush) {
  Fault fault{.what = static_cast<Fault::What>(random.between(0, 4)),
              .when = random.between(Time(milliseconds(100)), kFaultsEnd - milliseconds(500)),
              .whom = random.pick(machines),
              .from = random.pick(machines)};
  if (rush) fault.when = std::min(*rush + random.between(Time(0), Time(milliseconds(1500))), kFaultsEnd - milliseconds(500));
  const Time rest = kFaultsEnd - fault.when;
  const Time longest = random.chance(0.5) ? milliseconds(300) : milliseconds(4000);
  fault.lasts = random.between(Time(milliseconds(1)), std::min(rest, longest));
  fault.factor = static_cast<double>(random.between(2, 60));
  return fault;
}

// Lets one verifier join while the others are overloaded.
void draw_joiner(Scenario& s, RandomSource& random, std::optional<Time> rush) {
  if (s.verifiers.size() < 2 || !rush || !random.chance(0.4)) return;
  s.begins[static_cast<size_t>(s.routers) + s.verifiers.size() - 1] = *rush + random.between(Time(0), Time(milliseconds(800)));
  if (s.calm() || s.rolling) return;
  for (int i = 0; i + 1 < static_cast<int>(s.verifiers.size()); ++i) {
    s.faults.push_back({.what = Fault::What::slow,
                        .when = *rush,
                        .lasts = std::min<Time>(milliseconds(3000), kFaultsEnd - *rush),
                        .whom = {Kind::verifier, i},
                        .from = {},
                        .factor = static_cast<double>(random.between(3, 20))});
  }
  std::ranges::sort(s.faults, {}, &Fault::when);
}

// Gives most prompts one long common beginning, like a system prompt.
void draw_shared_prompt(Scenario& s, RandomSource& random) {
  if (!random.chance(0.25)) return;
  std::vector<TokenId> shared(static_cast<size_t>(random.between(64, 70)));
  for (TokenId& token : shared) token = static_cast<TokenId>(random.between(1, kToyVocabulary - 1));
  for (Ask& ask : s.asks) {
    if (random.chance(0.4)) continue;
    ask.prompt.resize(std::min<size_t>(ask.prompt.size(), 12));
    ask.prompt.insert(ask.prompt.begin(), shared.begin(), shared.end());
    ask.output_max = std::min(ask.output_max, kToyContext - static_cast<int32_t>(ask.prompt.size()));
  }
}

// Lets one verifier hang: its compute job never ends, while its heartbeats go on. Other verifiers
// can take over its work.
void draw_hang(Scenario& s, RandomSource& random) {
  const bool others = s.verifiers.size() > 1 && std::ranges::none_of(s.verifiers, &VerifierTraits::other_numerics);
  if (s.calm() || s.rolling || !others || !random.chance(0.3)) return;
  s.verifier_wait_ms = 10'000;
  s.faults.push_back({.what = Fault::What::hang,
                      .when = random.between(Time(milliseconds(100)), kRequestsEnd),
                      .lasts = {},
                      .whom = {Kind::verifier, static_cast<int>(random.between(0, std::ssize(s.verifiers) - 1))},
                      .from = {}});
  std::ranges::sort(s.faults, {}, &Fault::when);
}

void tune(Scenario& s) {
  s.tunes = true;
  s.first_threshold = 0.5F;
}

// Each has a source of its own, so that a new trait changes no other one of a seed.
void draw_what_drafts_inside(std::vector<VerifierTraits>& verifiers, uint64_t seed) {
  RandomSource residents(seed, "residents");
  for (VerifierTraits& verifier : verifiers) verifier.resident = residents.chance(0.3);
  RandomSource masks(seed, "slow grammars");
  for (VerifierTraits& verifier : verifiers) verifier.slow_grammars = masks.chance(0.5);
  RandomSource heads(seed, "heads");
  for (VerifierTraits& verifier : verifiers) {
    if (heads.chance(0.4)) verifier.head = heads.chance(0.4) ? 0 : heads.share();
  }
}

void draw_features(Scenario& s) {
  RandomSource features(s.seed, "features");
  if (features.chance(0.5)) return;
  for (VerifierTraits& verifier : s.verifiers) verifier.sends_features = features.chance(0.9);
  for (DrafterTraits& drafter : s.drafters) drafter.reads_features = features.chance(0.6);
}

}  // namespace

Scenario Scenario::draw(uint64_t seed) {
  RandomSource random(seed, "scenario");
  Scenario s{.seed = seed};
  s.routers = random.chance(0.6) ? 1 : static_cast<int>(random.between(2, 3));
  const bool two_numerics = random.chance(0.2);
  s.verifiers.resize(static_cast<size_t>(random.between(1, 3)));
  for (VerifierTraits& verifier : s.verifiers) {
    verifier.other_numerics = two_numerics && random.chance(0.5);
    verifier.cache_blocks = static_cast<int32_t>(random.chance(0.3) ? random.between(7, 10) : 64);
    verifier.step_rows_max = static_cast<int32_t>(random.chance(0.3) ? random.between(8, 40) : 256);
  }
  s.drafters.resize(static_cast<size_t>(random.between(0, 3)));
  const bool honest = random.chance(0.3);
  for (DrafterTraits& drafter : s.drafters) {
    if (!honest) drafter.noise = random.chance(0.3) ? 1 : random.share() * 0.6;
    if (!honest) drafter.siblings = random.share() * 0.5;
    drafter.new_endpoint = random.chance(0.5);
    drafter.runs_ahead = random.chance(0.4);
    if (random.chance(0.3)) drafter.mischief = random.share() * 0.5;
    drafter.misplaced = honest || random.chance(0.5);
  }
  std::vector<Machine> machines;
  for (int i = 0; i < s.routers; ++i) machines.push_back({Kind::router, i});
  for (int i = 0; i < static_cast<int>(s.verifiers.size()); ++i) machines.push_back({Kind::verifier, i});
  for (int i = 0; i < static_cast<int>(s.drafters.size()); ++i) machines.push_back({Kind::drafter, i});
  for (size_t i = 0; i < machines.size(); ++i) s.begins.push_back(random.between(Time(0), kBeginsMost));
  s.climate = draw_climate(random);
  s.wait_share = random.chance(0.5) ? 0.05 : 1000;
  s.verifier_wait_ms = random.chance(0.2) ? 1500 : 10'000;
  std::optional<Time> rush;
  if (random.chance(0.6)) rush = random.between(Time(milliseconds(300)), kRequestsEnd - milliseconds(500));
  s.asks.resize(static_cast<size_t>(random.between(1, 16)));
  for (Ask& ask : s.asks) ask = draw_ask(random, s.routers, rush);
  std::ranges::sort(s.asks, {}, &Ask::when);
  s.faults.resize(random.chance(0.15) ? 0 : static_cast<size_t>(random.between(1, 14)));
  for (Fault& fault : s.faults) fault = draw_fault(random, machines, rush);
  std::erase_if(s.faults, [](const Fault& f) { return f.what == Fault::What::separate && f.whom.kind == f.from.kind; });
  std::ranges::sort(s.faults, {}, &Fault::when);
  s.rolling = random.chance(0.15);
  if (s.rolling) {
    s.climate = {};
    s.verifier_wait_ms = kWaitsOutRestartsMs;
    for (Fault& fault : s.faults) fault.what = Fault::What::drain;
  }
  draw_joiner(s, random, rush);
  draw_shared_prompt(s, random);
  if (seed % kTunesEvery == 0) tune(s);
  draw_hang(s, random);
  draw_forms(s.asks, seed);
  draw_what_drafts_inside(s.verifiers, seed);
  RandomSource models(seed, "models");
  const bool alike = models.chance(0.4);
  for (DrafterTraits& drafter : s.drafters) drafter.model = alike || models.chance(0.3) ? "small" : "large";
  draw_features(s);
  return s;
}

Scenario Scenario::soak(uint64_t seed, int waves) {
  Scenario s = draw(seed);
  s.routers = kSoakOfEach;
  s.verifiers.assign(kSoakOfEach, {.cache_blocks = 8, .step_rows_max = 256});
  s.verifiers.back().resident = true;
  s.verifiers.back().head = 0.3;
  s.verifiers.front().sends_features = true;
  s.drafters.resize(kSoakOfEach, {.noise = 0.3, .siblings = 0.2});
  s.drafters.back().reads_features = true;
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
      // No hangs: a process recovers from one only at the end of a world.
      if (fault.what != Fault::What::hang) s.faults.push_back(fault);
    }
  }
  return s;
}

std::string Scenario::text() const {
  std::string text =
      fmt::format("seed {}: {} routers, {} verifiers, {} drafters, {} requests, {} faults{}\n", seed, routers, verifiers.size(),
                  drafters.size(), asks.size(), faults.size(), rolling ? ", rolling restarts" : "") +
      (tunes ? "  the routers tune\n" : "");
  for (size_t i = 0; i < verifiers.size(); ++i) {
    text += fmt::format("  verifier {}: {} cache blocks, {} rows a step{}{}{}{}{}\n", i, verifiers[i].cache_blocks,
                        verifiers[i].step_rows_max, verifiers[i].other_numerics ? ", other numerics" : "",
                        verifiers[i].resident ? ", resident look-up" : "", verifiers[i].slow_grammars ? ", slow grammars" : "",
                        verifiers[i].head ? fmt::format(", draft head with noise {:.2f}", *verifiers[i].head) : "",
                        verifiers[i].sends_features ? ", sends features" : "");
  }
  for (size_t i = 0; i < drafters.size(); ++i) {
    text +=
        fmt::format("  drafter {}: noise {:.2f}, mischief {:.2f}{}{}{}{}\n", i, drafters[i].noise, drafters[i].mischief,
                    drafters[i].misplaced ? " (fences)" : "", drafters[i].runs_ahead ? ", runs ahead" : "",
                    drafters[i].new_endpoint ? ", new endpoints" : "", drafters[i].reads_features ? ", reads features" : "");
  }
  const char* boundaries[] = {"control", "generate", "draft"};
  for (size_t i = 0; i < climate.size(); ++i) {
    text += fmt::format("  {:<8} lost {:.1f} %, doubled {:.1f} %, reordered {:.1f} %, delayed {:.1f} %\n", boundaries[i],
                        100 * climate[i].lost, 100 * climate[i].doubled, 100 * climate[i].reordered, 100 * climate[i].delayed);
  }
  return text;
}

}  // namespace slipstream::sim
