#include "services/router/http_api/answer_state.h"

#include <algorithm>

namespace slipstream {

int32_t Totals::cached_tokens() const {
  return static_cast<int32_t>(std::min(report.cached_tokens, static_cast<uint32_t>(usage.prompt_tokens)));
}

bool AnswerState::ended() const {
  return std::ranges::all_of(choices, [](const Choice* choice) { return choice->ended(); });
}

// The prompt counts once, with the choice that computed it.
Totals AnswerState::totals() const {
  Totals totals{.usage = {.prompt_tokens = prompt_tokens}};
  std::vector<const Choice*> all = choices;
  all.insert(all.end(), others.begin(), others.end());
  for (const Choice* choice : all) {
    const SpeculationReport& one = choice->newest().report;
    totals.usage.completion_tokens += choice->tokens();
    totals.usage.reasoning_tokens += choice->reasoning_tokens();
    totals.usage.guessed_tokens += choice->guessed();
    totals.report.steps += one.steps;
    totals.report.accepted += one.accepted;
    totals.report.rejected += one.rejected;
    totals.report.unreached += one.unreached;
    if (choice->leads()) totals.report.cached_tokens += one.cached_tokens;
    totals.histogram.add(choice->newest().histogram);
  }
  return totals;
}

}  // namespace slipstream
