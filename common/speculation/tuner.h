// Sets the stopping threshold h of each kind of drafter (stop_rule.h) from what workers export:
//
//   a node is worth drafting and verifying iff  chance >= price,
//   price = lambda dT_verify/dn  +  lambda t_level share / (w b)
//
//   lambda       output tokens of a verifier per second that it is busy: the worth of a second
//   dT_verify/dn seconds of one row more, from the verifier's own table, at as many rows as it has
//                sequences
//   t_level      seconds of one level more of a draft: the slope of the time of draft jobs over the
//                depth of their trees
//   share        of the time of a draft job, the part for which steps stand and wait: drafting
//                beside a step that computes delays nobody. Of a tree that came too late it is all of
//                it: nobody waited, and what was drafted is lost
//   w            nodes that a level adds to each tree
//   b            trees that share a job, at most those of one verifier
//   chance       of the nodes that were verified with a stated survival, the share that was accepted
//                (survival_curve.h)
//
// h = 1 - s, where s is the smallest survival whose chance pays the price. SpecDec++ (2405.19715,
// Theorem 3.1) proves that it is right to stop where the chance of a rejection is at least
// (c2 + D) / (c1 + c2 + D); with c1 = t_level, c2 = the time of a step and D = 0 it is reported
// beside h.
//
// A tree that comes after its deadline is drafted in vain, and no count shows what it was worth. So
// a setting bounds the depth, too: by the levels that fit between what an answer takes beside its
// drafting (queue and network) and the deadline.
//
// What was counted under a low h says nothing of the nodes that h cut: counts are censored. So
// verifiers let one round in kExploreRounds draft as if h were 1 (services/verifier/rounds.cpp),
// and what is not known yet is believed to the drafter (kCalibrationPrior).
//
// Nothing that is read is trusted. A reading that is not finite, falls, or claims more seconds than
// have passed changes nothing: the last good setting holds, and its reason says so. Two routers do
// not fight: a setting belongs to the drafter references that a router names, and a drafter obeys
// the one that comes with each ask. Both see the same counts, which do not depend on who asked.
//
// Pure: the time comes with each call. Memory is bounded by kTunerSourcesMax and kTunedKindsMax.
//
//   Tuner tuner(1.0F);
//   tuner.read("http://127.0.0.1:9100/metrics", reading, now);
//   tuner.look(now + kScrapeTakes);
//   if (const TunerSetting* setting = tuner.find({"small-lm", "tiny"})) use(setting->threshold);
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/limits.h"
#include "common/speculation/worker_reading.h"

namespace slipstream {

inline constexpr size_t kTunerSourcesMax = kConnectionsMax;  // workers that are read
inline constexpr size_t kTunedKindsMax = 16;                 // settings; a further kind keeps the first threshold
inline constexpr float kThresholdStep = 0.02F;               // a smaller change of h is none
inline constexpr double kScrapeTakes = 0.1;     // seconds after the first news until it is decided: others' come, too
inline constexpr double kSourceSilent = 2;      // seconds without news: a worker is idle, or cannot be read
inline constexpr double kSourceForgotten = 60;  // seconds without news

// Older counts fade: they weigh 1/e after so many newer ones, or after so many seconds if at least
// `least` are left then.
struct Remembered {
  double counts = 0, seconds = 0, least = 0;
};
inline constexpr Remembered kNodesRemembered{1024, 3, 128};  // verified nodes of a kind
inline constexpr Remembered kAsksRemembered{128, 0.5, 16};   // of the drafters of a kind
inline constexpr Remembered kStepsRemembered{128, 0.5, 16};  // of a verifier
inline constexpr Remembered kJobsRemembered{256, 0.5, 16};   // of the drafters of a kind

inline constexpr double kNodesToDecide = 32;  // fewer decide nothing
inline constexpr double kStepsToDecide = 8;
inline constexpr double kJobsToDecide = 8;
inline constexpr double kInTime = 0.9;        // of the time until the deadline, that levels may take
inline constexpr double kDeeperInTime = 0.8;  // the same for more levels than now, so that depth does not wander

// Why h is what it is.
enum class TuneReason : uint8_t {
  few_counts,       // too little was counted to decide: it stays
  price,            // nodes below it do not pay
  every_node_pays,  // h = 1
  no_node_pays,     // h = 0
  stopped,          // no statistics came lately: it stays
  refused           // what came cannot be: it stays
};
inline constexpr std::string_view kTuneReasons[] = {"few_counts",   "price",   "every_node_pays",
                                                    "no_node_pays", "stopped", "refused"};
constexpr std::string_view name_of(TuneReason reason) { return kTuneReasons[static_cast<size_t>(reason)]; }

// A setting, and the numbers behind it.
struct TunerSetting {
  TunedKind kind;
  uint32_t version = 0;           // grows with each change; 0: it is the first threshold
  float threshold = 1;            // h
  int depth_max = kTreeDepthMax;  // levels that come in time
  TuneReason reason = TuneReason::few_counts;
  double verify_price = 0, draft_price = 0;  // tokens a node
  double tokens_per_second = 0;              // lambda: the mean of the verifiers that are busy
  double step_seconds = 0, level_seconds = 0;
  double wait_share = 0;
  double in_time = 0, late = 0;  // asks, remembered
  double late_share() const { return in_time + late > 0 ? late / (in_time + late) : 0; }
  double answer_seconds = 0;                               // from an ask to its tree, as verifiers see it; 0: not known
  double theorem_threshold = 1;                            // of SpecDec++
  std::array<NodeCounts, kCalibrationBins> by_survival{};  // remembered
  std::array<NodeCounts, kCalibrationDepths.size()> by_depth{};
  double nodes() const;  // verified, remembered
};

struct TunerCounters {
  uint64_t readings = 0;    // that were taken
  uint64_t restarts = 0;    // a counter fell: the worker began anew
  uint64_t refused = 0;     // not finite, negative, or more than can be
  uint64_t unreadable = 0;  // pages without the numbers, or that were no pages
  uint64_t unreached = 0;   // workers that did not answer
  uint64_t overflow = 0;    // of workers or kinds beyond the limits
  uint64_t changes = 0;     // of a threshold
};

class Tuner {
 public:
  // deadline: seconds that a step waits for a tree; depth_max: levels that a tree may have at most.
  explicit Tuner(float first_threshold, double deadline = 1, int depth_max = kTreeDepthMax)
      : first_threshold_(first_threshold), deadline_(deadline), depth_max_(depth_max) {}

  // now: seconds of a clock that does not jump back.
  void read(const std::string& source, const WorkerReading& reading, double now);
  // A worker gave no reading. reached: its page came, and was nonsense.
  void failed(bool reached);
  // Time passes: what was read is decided, and settings whose statistics have stopped say so. To be
  // called at least each second, and before each read(), so that one round of scrapes is decided
  // together.
  void look(double now);

  // By kind. Only kinds that have a drafter are tuned, not what lives inside a verifier.
  const std::map<TunedKind, TunerSetting>& settings() const { return settings_; }
  const TunerSetting* find(const TunedKind& kind) const;  // null: the first threshold holds
  const TunerCounters& counters() const { return counters_; }

 private:
  struct Load {  // of one verifier, remembered
    double steps = 0, seconds = 0, wait = 0, rounds = 0, tokens = 0;
    double at = 0;  // when it was last added to
    double overhead = 0;
    std::vector<StepCost> cost;
  };
  struct Drafts {  // of a kind, remembered
    double jobs = 0, asks = 0, nodes = 0;
    std::array<LevelCounts, kCalibrationDepths.size()> by_levels{};
    double at = 0;
  };
  struct Source {
    WorkerReading last;
    double read_at = 0;  // when it last said something new
    Load load;
  };
  struct Job {  // of a kind, on average
    double seconds = 0, asks = 0, nodes_a_level = 0;
    double level_seconds = 0;  // of one level more
    double fixed_seconds = 0;  // of no level
  };
  struct Price {
    double verify = 0, draft = 0, lambda = 0, step_seconds = 0, wait_share = 0;
  };

  Source* source(const std::string& name, const WorkerReading& reading, double now);
  void take(Load& load, const VerifierReading& more, double now);
  void take(Load& load, const DrafterReading& more, double now);
  void take(const KindReading& more, double now);
  TunerSetting* setting(const TunedKind& kind);
  void refuse(const WorkerReading& reading);
  void decide(TunerSetting& setting, double now);
  std::optional<Job> job_of(const TunedKind& kind) const;               // nullopt: too few are known
  Price price_of(const Job& job, double late_share, double now) const;  // lambda 0: too few steps are known
  void bound_depth(TunerSetting& setting, const Job& job);
  void move(TunerSetting& setting, float threshold, TuneReason reason);
  void changed(TunerSetting& setting);

  float first_threshold_;
  double deadline_;
  int depth_max_;
  std::map<std::string, Source> sources_;
  std::map<TunedKind, Drafts> drafts_;
  std::map<TunedKind, double> news_;        // when its statistics last moved
  std::map<TunedKind, double> undecided_;   // since when there is news to decide
  std::map<TunedKind, double> counted_at_;  // when its nodes last did
  std::map<TunedKind, TunerSetting> settings_;
  TunerCounters counters_;
};

}  // namespace slipstream
