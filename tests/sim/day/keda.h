// KEDA 2 and the HorizontalPodAutoscaler that it makes, as far as the chart's ScaledObjects use
// them (templates/_autoscaling.tpl): triggers of Prometheus with metricType AverageValue and
// threshold 1.
//
//   - The HPA looks each 15 s. Each trigger wants ceil(value) replicas; the most wins. A trigger
//     whose value is within 10% of the present replicas wants no change. It goes down only to the
//     most that was wanted in the down window, and up at once, but at most to the double or by 4
//     in 15 s.
//   - From and to zero KEDA's operator scales, each pollingInterval: from zero to one where a
//     trigger is above 0; to zero where none has been for cooldownPeriod.
//
// Pure: what it wants follows from the values that it is given.
#pragma once

#include <deque>
#include <optional>
#include <span>
#include <utility>

namespace slipstream::sim {

inline constexpr double kHpaEvery = 15;       // seconds, --horizontal-pod-autoscaler-sync-period
inline constexpr double kHpaTolerance = 0.1;  // --horizontal-pod-autoscaler-tolerance

struct ScaledObject {
  int least = 0, most = 1;
  double polling = 15, cooldown = 300;  // seconds
  double down_window = 300;             // behavior.scaleDown.stabilizationWindowSeconds
};

class Keda {
 public:
  Keda(ScaledObject object, int replicas) : object_(object), replicas_(replicas) {}

  int replicas() const { return replicas_; }
  // Whether the triggers' values are wanted at `now`, in seconds. To be asked at least each second.
  bool due(double now) const { return now >= next_poll_ || now >= next_look_; }
  // What the triggers say at `now`. Returns the replicas that are wanted from now on.
  int look(double now, std::span<const double> values);

 private:
  void poll(double now, bool active);
  void scale(double now, std::span<const double> values);

  ScaledObject object_;
  int replicas_;
  double next_poll_ = 0, next_look_ = 0;
  std::optional<double> active_;                // when a trigger was last above 0
  std::deque<std::pair<double, int>> wanted_;   // (when, replicas), of the down window
  std::deque<std::pair<double, int>> changes_;  // (when, replicas before), of the last 15 s
};

}  // namespace slipstream::sim
