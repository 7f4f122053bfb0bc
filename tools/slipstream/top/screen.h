// What `slipstream top` shows, computed from two looks at a fleet: rates from the growth of
// counters between them, and states as of the later one. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/slipstream/top/look.h"

namespace slipstream::command::top {

// nullopt: it cannot be told, as nothing happened or there was one look only.
using Figure = std::optional<double>;
inline Figure ratio(double part, double whole) { return whole > 0 ? Figure(part / whole) : std::nullopt; }

struct Percentiles {
  double p50 = 0, p90 = 0, p99 = 0;  // seconds
  bool since_start = false;          // nothing came between the looks: they are of all that ever came
};

struct RouterFigures {
  double running = 0, waiting = 0;  // requests
  Figure ended_per_s, failed_per_s;
  Figure tokens_per_s;
  Figure drafted_share;                                // of the tokens
  std::optional<Percentiles> first_token, next_token;  // nullopt: no request ever came
};

struct VerifierFigures {
  std::string name, state, what;
  bool read = false;  // its own page was
  int64_t streams = 0;
  double busy = 0;
  Figure waiting;  // streams without room in the cache
  Figure tokens_per_s, steps_per_s;
  Figure step_s;  // a forward pass, on average
  Figure rows;    // of a step, on average
};

struct DrafterFigures {
  std::string name, state, what;
  bool read = false;
  int64_t streams = 0;
  double busy = 0;
  Figure asks_per_s, trees_per_s, nodes_per_s;
  Figure draft_s;                    // a draft job, on average
  Figure greedy_gain, sampled_gain;  // tokens that an ask of such requests wins
};

struct DepthFigures {
  std::string depth;  // "1", "8" (5 to 8), "deeper"
  double verified = 0, accepted = 0;
};

// A kind of drafter, or what drafts inside the verifiers.
struct KindFigures {
  std::string name;
  double drafters = 0;
  Figure asked_per_s;                // rounds that it was asked in
  Figure asked_share;                // of the rounds in which it could have been
  Figure accepted_per_s;             // nodes
  Figure node_gain;                  // tokens that a verified node wins: the share that is accepted
  Figure node_cost;                  // tokens that a node must win to pay for its row
  Figure greedy_gain, sampled_gain;  // tokens that an ask of such requests wins, less what its rows cost
};

struct ThresholdFigures {
  std::string kind;  // "": the first threshold, which holds for all
  double threshold = 1;
  int64_t depth_max = 0;
  std::string why;
  double verify_price = 0, draft_price = 0;
};

struct Screen {
  std::string url, model, trouble;
  Figure span_s;  // between the looks
  RouterFigures router;
  Figure tokens_a_step;  // of rounds with drafts: 1 and the accepted nodes
  std::vector<VerifierFigures> verifiers;
  std::vector<DrafterFigures> drafters;
  std::vector<DepthFigures> depths;
  std::vector<KindFigures> kinds;
  std::vector<ThresholdFigures> thresholds;
};

// before: an earlier look at the same fleet; null: there was none, so there are no rates. A worker
// that it does not have has no rates either.
Screen make_screen(const FleetLook* before, const FleetLook& now);

// "small-lm (tiny)", or "ngram" for one without a model.
std::string kind_name(std::string_view method, std::string_view model);

}  // namespace slipstream::command::top
