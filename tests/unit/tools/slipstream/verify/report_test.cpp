#include "tools/slipstream/verify/report.h"

#include <gmock/gmock.h>

namespace slipstream::command::verify {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr DraftUse kBusy{.answers = 10, .told = 10, .with = 9, .nodes = 50, .accepted = 21};

Report clean() {
  Report report{.reference = "here", .candidate = "there", .prompts = {"why?"}, .bytes_promised = true, .speculates = true};
  report.bytes = BytesResult{.answers = 10, .bytes = 100, .tokens = 50, .drafting = kBusy};
  DistributionTest test{.place = "token 1", .shares = {{"a", {600, 590}}, {"b", {400, 410}}}, .test = {0.2, 1, 0.65}};
  report.distribution = DistributionResult{.tests = {test}, .alpha = 1e-3, .samples = 1000, .drafting = kBusy};
  correct(*report.distribution);
  return report;
}

Difference difference() {
  return {.where = {.prompt = 0, .seed = 4, .temperature = 0.7F},
          .byte = 12,
          .token = 3,
          .what = "text",
          .reference = "it is <so>",
          .candidate = "it is\nnot"};
}

TEST(VerifyReport, SaysTheSameIfNothingDiffers) {
  EXPECT_EQ(verdict(clean()), Verdict::same);
  EXPECT_EQ(sentence(clean()), "The same, as far as this run can tell.");
}

TEST(VerifyReport, SaysDifferentForOneAnswerMoreThanIsAllowed) {
  Report report = clean();
  report.bytes->differences.push_back(difference());
  EXPECT_EQ(verdict(report), Verdict::different);
  EXPECT_THAT(sentence(report), HasSubstr("1 of 10 answers differ"));
  report.allowed = 1;
  EXPECT_EQ(verdict(report), Verdict::same);
}

TEST(VerifyReport, SaysWhereAServerCountsNearTies) {
  Report report = clean();
  report.bytes->differences = {difference(), difference()};
  EXPECT_THAT(sentence(report), Not(HasSubstr("near-ties")));
  report.bytes->differences[1].near_tie = true;
  EXPECT_EQ(verdict(report), Verdict::different);
  EXPECT_THAT(sentence(report), HasSubstr("2 of 10 answers differ, 1 of these where a server says that words may (near-ties"));
}

TEST(VerifyReport, SaysDifferentForAnotherDistribution) {
  Report report = clean();
  report.distribution->tests[0].test.p_value = 1e-9;
  correct(*report.distribution);
  EXPECT_EQ(verdict(report), Verdict::different);
  EXPECT_THAT(sentence(report), HasSubstr("the distribution differs (prompt 1, temperature 1, token 1"));
}

TEST(VerifyReport, CannotTellWhatWentWrongHalfWay) {
  Report report = clean();
  report.problem = "nobody answers";
  EXPECT_EQ(verdict(report), Verdict::unknown);
  report.bytes->differences.push_back(difference());
  EXPECT_EQ(verdict(report), Verdict::different) << "what was found stays found";
}

TEST(VerifyReport, CannotTellWhereNothingWasDrafted) {
  Report report = clean();
  report.distribution->drafting = {.answers = 10, .told = 10};
  EXPECT_EQ(verdict(report), Verdict::unknown);
  EXPECT_THAT(sentence(report), HasSubstr("no drafter guessed anything in the part \"distribution\""));
  report.speculates = false;
  EXPECT_EQ(verdict(report), Verdict::same) << "two servers are compared as they are";
}

// What a proxy makes of it that switches speculation off in all but one of 499 requests.
TEST(VerifyReport, CannotTellWhereHardlyAnAnswerHadDrafts) {
  Report report = clean();
  report.distribution->drafting = {.answers = 499, .told = 499, .with = 1, .nodes = 4, .accepted = 2};
  EXPECT_EQ(verdict(report), Verdict::unknown);
  EXPECT_THAT(sentence(report), HasSubstr("only 1 of 499 answers of the part \"distribution\" had a draft at a token that is "
                                          "compared (0.2 %; 10 % at least must)"));
  report = clean();
  report.bytes->drafting = {.answers = 499, .told = 499, .with = 1, .nodes = 4, .accepted = 2};
  EXPECT_EQ(verdict(report), Verdict::unknown);
  EXPECT_THAT(sentence(report), HasSubstr("part \"bytes\""));
}

TEST(VerifyReport, CannotTellWhereNobodySaysWhatWasDrafted) {
  Report report = clean();
  report.bytes->drafting = {.answers = 10};
  EXPECT_EQ(verdict(report), Verdict::unknown);
  EXPECT_THAT(sentence(report), HasSubstr("no answer of the part \"bytes\" says how much was drafted"));
}

TEST(VerifyReport, SaysHowMuchWasDrafted) {
  Report report = clean();
  report.distribution->tests[0].drafted = 0.125;
  const std::string text = markdown(document(report));
  const std::string drafted = "verified 50 draft nodes for the candidate's and accepted 21; 9 of 10 answers (90 %) had a draft";
  const size_t bytes = text.find(drafted);
  EXPECT_NE(bytes, std::string::npos);
  EXPECT_NE(text.find(drafted, bytes + 1), std::string::npos) << "of the distribution, too";
  EXPECT_THAT(text, HasSubstr("12.5 %"));
}

TEST(VerifyReport, SaysWhichSeedsTheAnswersWereSampledWith) {
  Report report = clean();
  report.seeds = "5 to 6";
  EXPECT_THAT(markdown(document(report)), HasSubstr("5 to 6"));
}

TEST(VerifyReport, NamesWhatDiffersMostFirst) {
  Report report = clean();
  report.distribution->tests[0].shares = {{"alike", {500, 500}}, {"apart", {100, 300}}};
  const std::string text = markdown(document(report));
  EXPECT_LT(text.find("| apart"), text.find("| alike"));
}

TEST(VerifyReport, CannotTellADistributionFromDrawsTooRareToCompare) {
  Report report = clean();
  report.distribution->samples = 5;
  report.distribution->tests[0].shares = {{"4 rare ones", {5, 5}, true}};
  report.distribution->tests[0].test = {};
  report.distribution->tests[0].draws_needed = 0;
  EXPECT_EQ(verdict(report), Verdict::unknown);
  EXPECT_THAT(sentence(report), HasSubstr("5 samples a side are too few"));
  EXPECT_THAT(markdown(document(report)), HasSubstr("too few draws to compare"));
  report.distribution->tests[0].shares = {{"a", {5, 5}}};
  EXPECT_EQ(verdict(report), Verdict::same) << "both always say it";
}

Report declaring() {
  Report report = clean();
  DistributionTest& test = report.distribution->tests[0];
  test.excess = statistics::Excess{.cells = 2, .shift = 0.04, .declared = 0.03, .error = 0.01, .p_value = 0.16};
  test.test = {1, 1, 0.16};
  report.distribution->declares = true;
  correct(*report.distribution);
  return report;
}

TEST(VerifyReport, SaysWithinWhatIsDeclared) {
  EXPECT_EQ(verdict(declaring()), Verdict::same);
  EXPECT_EQ(sentence(declaring()),
            "Differs by at most what it declares, 0.03 total variation on average up to the last token that is compared, as "
            "far as this run can tell.");
  EXPECT_THAT(markdown(document(declaring())), HasSubstr("0.0400 ± 0.0100 |   0.0300 |"));
  EXPECT_THAT(power_sentence(*declaring().distribution), HasSubstr("beyond what is declared"));
}

TEST(VerifyReport, CallsNothingDeclaredNothing) {
  Report report = declaring();
  report.distribution->tests[0].excess->declared = 1.41e-18;
  EXPECT_THAT(sentence(report), HasSubstr("what it declares, 0 total variation"));
}

TEST(VerifyReport, SaysDifferentForMoreThanIsDeclared) {
  Report report = declaring();
  report.distribution->tests[0].test.p_value = 1e-9;
  correct(*report.distribution);
  EXPECT_EQ(verdict(report), Verdict::different);
  EXPECT_THAT(sentence(report), HasSubstr("by more than it declares, 0.04 ± 0.01 where 0.03 total variation is declared"));
}

TEST(VerifyReport, CannotTellFromNothing) { EXPECT_EQ(verdict({}), Verdict::unknown); }

TEST(VerifyReport, ShowsWhereAnswersPart) {
  Report report = clean();
  report.bytes->differences.push_back(difference());
  const std::string text = markdown(document(report)), page = html("t", document(report));
  EXPECT_THAT(text, HasSubstr("seed 4, temperature 0.7: text differs at byte 12, token 3"));
  EXPECT_THAT(text, HasSubstr("reference  it is <so>\n    candidate  it is\\nnot"));
  EXPECT_THAT(page, HasSubstr("it is &lt;so&gt;"));
}

TEST(VerifyReport, StatesWhatTheSamplesFind) {
  EXPECT_THAT(power_sentence(*clean().distribution), HasSubstr("1000 samples a side find any shift of"));
  EXPECT_THAT(power_sentence(*clean().distribution), HasSubstr("To find 1 % so"));
}

TEST(VerifyReport, DrawsTheDistributionTests) {
  const std::string page = html("t", document(clean()));
  EXPECT_THAT(page, HasSubstr("corrected p-value, logarithmic"));
  EXPECT_THAT(page, HasSubstr("60.00 %, 59.00 %"));
}

}  // namespace
}  // namespace slipstream::command::verify
