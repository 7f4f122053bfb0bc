#include "tools/slipstream/verify/report.h"

#include <algorithm>
#include <cmath>

#include "tools/slipstream/document.h"
#include "tools/slipstream/verify/plots.h"

namespace slipstream::command::verify {
namespace {

constexpr size_t kDifferencesShown = 20;
constexpr size_t kPromptBytesShown = 100;
constexpr double kNoVariation = 1e-9;
constexpr std::string_view kTwoSamplesTest =
    "Pearson's test of two samples; rare cells are pooled by what both sides have together.";
constexpr std::string_view kDeclaredTest =
    "The rule declares a bias, and is held to it: half of the samples choose an event, namely what the candidate said more "
    "often than the reference, and the other half tests whether its share on the candidate's side exceeds the reference's by "
    "more than the mean of what the answers declare to have spent up to there.";

bool too_many(const Report& report) { return report.bytes && report.bytes->differences.size() > report.allowed; }
bool other_distribution(const Report& report) { return report.distribution && report.distribution->different(); }

std::string count(size_t number, std::string_view noun) { return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s"); }

std::string per_cent(double share) { return fmt::format("{:.3g} %", 100 * share); }

std::string per_cent(const DraftUse& drafting) {
  return per_cent(static_cast<double>(drafting.with) / static_cast<double>(std::max<size_t>(1, drafting.answers)));
}

// Says why a part with little speculation proves nothing about it; "": it had enough.
std::string idle(std::string_view part, const DraftUse& drafting) {
  if (drafting.enough()) return "";
  if (drafting.told == 0) {
    return fmt::format(
        "no answer of the part \"{}\" says how much was drafted for it (metrics.speculative_decoding), so it is "
        "unknown whether speculation was at work; ask the server directly, not through a gateway that removes such fields",
        part);
  }
  if (drafting.nodes == 0) {
    return fmt::format(
        "no drafter guessed anything in the part \"{}\", so speculation was never at work; start a drafter, or "
        "give --prompts whose answers repeat them",
        part);
  }
  return fmt::format(
      "only {} of {} of the part \"{}\" had a draft at a token that is compared ({}; {} at least must), so it "
      "says next to nothing of speculation; see that a drafter is there and in time, raise --positions, lower "
      "--streams, or give --prompts whose answers repeat them",
      drafting.with, count(drafting.answers, "answer"), part, per_cent(drafting), per_cent(kDraftedShareMin));
}

// The same for the first part that had too little speculation; "": both had enough.
std::string without_drafts(const Report& report) {
  if (!report.speculates) return "";
  std::string why;
  if (report.bytes) why = idle("bytes", report.bytes->drafting);
  if (why.empty() && report.distribution) why = idle("distribution", report.distribution->drafting);
  return why;
}

std::string drafting_sentence(const DraftUse& drafting) {
  return fmt::format(
      "Steps verified {} draft nodes for the candidate's and accepted {}; {} of {} ({}) had a draft at a token that is "
      "compared.",
      drafting.nodes, drafting.accepted, drafting.with, count(drafting.answers, "answer"), per_cent(drafting));
}

// Formats a total variation. Rounding errors below kNoVariation count as 0.
std::string variation(double value) { return std::abs(value) < kNoVariation ? "0" : fmt::format("{:.3g}", value); }

std::string beginning(const std::string& prompt) {
  size_t end = std::min(prompt.size(), kPromptBytesShown);
  // Do not cut inside a UTF-8 character.
  while (end < prompt.size() && (static_cast<unsigned char>(prompt[end]) & 0xC0U) == 0x80U) ++end;
  return visible(prompt.substr(0, end)) + (end < prompt.size() ? "…" : "");
}

std::string place(const Difference& difference) {
  const std::string token = difference.token ? fmt::format(", token {}", *difference.token) : "";
  return fmt::format("seed {}, temperature {:g}: {} differs at byte {}{}", difference.where.seed, difference.where.temperature,
                     difference.what, difference.byte, token);
}

std::string bytes_sentence(const Report& report) {
  const BytesResult& bytes = *report.bytes;
  std::string text = fmt::format("{} of each side, {} bytes{}: {} differ.", count(bytes.answers, "answer"), bytes.bytes,
                                 bytes.tokens > 0 ? fmt::format(", {} tokens", bytes.tokens) : "", bytes.differences.size());
  if (report.speculates) text += " " + drafting_sentence(bytes.drafting);
  if (report.allowed > 0) text += fmt::format(" {} may (--allow-differences).", report.allowed);
  text += report.bytes_promised ? " Equal seeds promise equal words at every temperature."
                                : " Only answers at temperature 0 are compared so; above, equal words are not promised.";
  return text;
}

void add_bytes(Document& document, const Report& report) {
  document.push_back(Heading{2, "Byte for byte"});
  document.push_back(Paragraph{bytes_sentence(report)});
  const auto& differences = report.bytes->differences;
  for (size_t i = 0; i < std::min(kDifferencesShown, differences.size()); ++i) {
    const Difference& each = differences[i];
    document.push_back(Quotation{fmt::format("prompt {:<3} {}\n{}\nreference  {}\ncandidate  {}", each.where.prompt + 1,
                                             beginning(report.prompts[each.where.prompt]), place(each), visible(each.reference),
                                             visible(each.candidate))});
  }
  if (differences.size() > kDifferencesShown) {
    document.push_back(Paragraph{fmt::format("{} more are not shown.", differences.size() - kDifferencesShown)});
  }
}

double apart(const Share& share) {
  return std::abs(share.count.reference - share.count.candidate) / std::sqrt(std::max(1.0, share.count.both()));
}

void add_worst(Document& document, DistributionTest worst) {
  std::ranges::stable_sort(worst.shares, std::greater(), apart);
  document.push_back(
      Paragraph{fmt::format("The test of the smallest p-value: prompt {}, temperature {:g}, {}. What differs most "
                            "comes first.",
                            worst.prompt + 1, worst.temperature, worst.place)});
  Table table({{"sampled"}, {"reference", true}, {"candidate", true}});
  for (const Share& share : worst.shares) {
    table.row({share.label, fmt::format("{}", share.count.reference), fmt::format("{}", share.count.candidate)});
  }
  document.push_back(std::move(table));
  document.push_back(Plot{share_plot(worst)});
}

void add_distribution(Document& document, const Report& report) {
  const DistributionResult& distribution = *report.distribution;
  document.push_back(Heading{2, "As a distribution"});
  document.push_back(Paragraph{
      fmt::format("{} samples a side for each prompt and temperature, seeds all different, cut by {}. {} Corrected "
                  "over all tests (Holm): if "
                  "nothing differs{}, even one false alarm has a chance of at most {:g}.",
                  distribution.samples, words(distribution.unit), distribution.declares ? kDeclaredTest : kTwoSamplesTest,
                  distribution.declares ? " by more than is declared" : "", distribution.alpha)});
  if (report.speculates) document.push_back(Paragraph{drafting_sentence(distribution.drafting)});
  document.push_back(Paragraph{power_sentence(distribution)});
  document.push_back(distribution_table(distribution));
  document.push_back(Plot{p_value_plot(distribution.tests, distribution.alpha)});
  if (const DistributionTest* worst = distribution.worst()) add_worst(document, *worst);
}

// All samples are too rare to form a second cell.
bool rare_only(const DistributionTest& test) { return test.shares.size() == 1 && test.shares.front().rare; }

bool too_few_draws(const Report& report) {
  return report.distribution && report.distribution->draws_needed() == 0 &&
         std::ranges::any_of(report.distribution->tests, rare_only);
}

std::string more_than_declared(const DistributionTest& test) {
  if (!test.excess) return "";
  return fmt::format(" by more than it declares, {:.3g} ± {:.2g} where {} total variation is declared", test.excess->shift,
                     test.excess->error, variation(test.excess->declared));
}

}  // namespace

Verdict verdict(const Report& report) {
  if (too_many(report) || other_distribution(report)) return Verdict::different;
  // "Same" needs evidence: a part that failed, hardly any drafts, or too few samples give
  // "unknown".
  const bool nothing = !report.bytes && !report.distribution;
  if (nothing || !report.problem.empty() || !without_drafts(report).empty() || too_few_draws(report)) return Verdict::unknown;
  return Verdict::same;
}

std::string sentence(const Report& report) {
  std::string reasons;
  if (too_many(report)) {
    const auto& differences = report.bytes->differences;
    reasons = fmt::format("{} of {} differ", differences.size(), count(report.bytes->answers, "answer"));
    if (const auto ties = std::ranges::count_if(differences, &Difference::near_tie); ties > 0) {
      reasons += fmt::format(
          ", {} of these where a server says that words may (near-ties: --fast-rows, or heads that are left to torch; "
          "docs/use/DEVICES.md)",
          ties);
    }
  }
  if (other_distribution(report)) {
    const DistributionTest& worst = *report.distribution->worst();
    reasons += fmt::format("{}the distribution differs{} (prompt {}, temperature {:g}, {}: corrected p-value {:.2g})",
                           reasons.empty() ? "" : "; ", more_than_declared(worst), worst.prompt + 1, worst.temperature,
                           worst.place, worst.adjusted_p);
  }
  if (!reasons.empty()) return fmt::format("Different: {}.", reasons);
  if (!report.problem.empty()) {
    return fmt::format("Could not tell: {}{}", report.problem, report.problem.ends_with('.') ? "" : ".");
  }
  if (const std::string why = without_drafts(report); !why.empty()) return fmt::format("Could not tell: {}.", why);
  if (!report.bytes && !report.distribution) return "Could not tell: nothing was compared (--samples and --only say what is).";
  if (too_few_draws(report)) {
    return fmt::format(
        "Could not tell: {} samples a side are too few to compare a distribution; raise --samples, or give --only bytes.",
        report.distribution->samples);
  }
  if (report.distribution && report.distribution->declares) {
    return fmt::format(
        "Differs by at most what it declares, {} total variation on average up to the last token that is compared, as far as "
        "this run can tell.",
        variation(report.distribution->declared()));
  }
  return "The same, as far as this run can tell.";
}

namespace {

std::string distribution_verdict(const DistributionTest& test, double alpha) {
  if (test.test.degrees == 0) return rare_only(test) ? "too few draws to compare" : "one cell: both always say it";
  if (test.excess) return test.adjusted_p <= alpha ? "more than declared" : "within";
  return test.adjusted_p <= alpha ? "different" : "same";
}

std::string drafts_of(const DistributionTest& test) {
  return test.drafted ? fmt::format("{:.1f} %", 100 * *test.drafted) : "-";
}

Table declared_table(const DistributionResult& distribution) {
  Table table({{"prompt", true},
               {"temperature", true},
               {"what"},
               {"drafts", true},
               {"cells", true},
               {"differs by", true},
               {"declared", true},
               {"p-value", true},
               {"corrected", true},
               {"finds beyond it", true},
               {"verdict"}});
  for (const DistributionTest& test : distribution.tests) {
    if (!test.excess) continue;
    const statistics::Excess& excess = *test.excess;
    table.row({fmt::format("{}", test.prompt + 1), fmt::format("{:g}", test.temperature), test.place, drafts_of(test),
               fmt::format("{}", excess.cells), fmt::format("{:.4f} ± {:.4f}", excess.shift, excess.error),
               fmt::format("{:.4f}", excess.declared), fmt::format("{:.3g}", excess.p_value),
               fmt::format("{:.3g}", test.adjusted_p),
               test.test.degrees > 0 ? fmt::format("{:.1f} %", 100 * test.shift_found) : "-",
               distribution_verdict(test, distribution.alpha)});
  }
  return table;
}

}  // namespace

Table distribution_table(const DistributionResult& distribution) {
  if (distribution.declares) return declared_table(distribution);
  Table table({{"prompt", true},
               {"temperature", true},
               {"what"},
               {"drafts", true},
               {"cells", true},
               {"chi-square", true},
               {"p-value", true},
               {"corrected", true},
               {"finds a shift of", true},
               {"verdict"}});
  for (const DistributionTest& test : distribution.tests) {
    const bool compared = test.test.degrees > 0;
    table.row({fmt::format("{}", test.prompt + 1), fmt::format("{:g}", test.temperature), test.place, drafts_of(test),
               fmt::format("{}", test.shares.size()), fmt::format("{:.1f}", test.test.statistic),
               fmt::format("{:.3g}", test.test.p_value), fmt::format("{:.3g}", test.adjusted_p),
               compared ? fmt::format("{:.1f} %", 100 * test.shift_found) : "-",
               distribution_verdict(test, distribution.alpha)});
  }
  return table;
}

std::string power_sentence(const DistributionResult& distribution) {
  if (distribution.draws_needed() == 0) {
    return std::ranges::any_of(distribution.tests, rare_only)
               ? "No test has more than one cell: what was sampled was sampled too rarely to be compared."
               : "Every test has but one cell: there was no choice, so there is no distribution to compare.";
  }
  const std::string finds = fmt::format(
      "With chance {:g} or more, {} samples a side find any shift of {:.1f} % total variation{}, in whatever direction", kPower,
      distribution.samples, 100 * distribution.shift_found(), distribution.declares ? " beyond what is declared" : "");
  if (distribution.shift_found() <= kSmallShift) return finds + ".";
  return fmt::format("{} (one that concentrates on few tokens sooner). To find {:g} % so, {:.0f} samples a side are needed.",
                     finds, 100 * kSmallShift, distribution.draws_needed());
}

Document document(const Report& report) {
  Document document{Heading{1, "verify-lossless"}, Paragraph{sentence(report)}};
  Table sides({{"side"}, {"what"}});
  sides.row({"reference", report.reference});
  sides.row({"candidate", report.candidate});
  if (!report.asked.empty()) sides.row({"both asked with", report.asked});
  if (!report.seeds.empty()) sides.row({"seeds", report.seeds});
  document.push_back(std::move(sides));
  if (report.bytes) add_bytes(document, report);
  if (report.distribution) add_distribution(document, report);
  if (!report.problem.empty()) {
    document.push_back(Heading{2, "What could not be done"});
    document.push_back(Paragraph{report.problem});
  }
  document.push_back(Paragraph{report.made});
  return document;
}

}  // namespace slipstream::command::verify
