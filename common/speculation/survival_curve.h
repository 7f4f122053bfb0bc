// What share of nodes is accepted, by the survival that their drafter states for them: a curve that
// rises, through ten bins.
//
// Survivals fall into kCalibrationBins equal bins. Each has counted the nodes that were verified
// and the accepted ones among them, as numbers that may have faded:
//
//   seen(bin) = (w s + accepted) / (w + tried)
//
// w = kCalibrationPrior nodes say what was thought before: that the drafter is right, with s the
// middle of the bin, or what another curve has seen in that bin. Isotonic
// regression (pool adjacent violators, weighted by w + tried) makes seen() rise with the bin, and
// chance() is linear between the middles. Pure.
#pragma once

#include <array>
#include <cstddef>

namespace slipstream {

inline constexpr int kCalibrationBins = 10;     // of survival, each a tenth
inline constexpr double kCalibrationPrior = 2;  // nodes

// REQUIRES: 0 <= survival <= 1.
size_t survival_bin(double survival);

class SurvivalCurve {
 public:
  struct Cell {
    double tried = 0, accepted = 0;
  };
  using Cells = std::array<Cell, kCalibrationBins>;

  SurvivalCurve() { fit({}); }  // the drafter is right
  void fit(const Cells& cells) { fit(cells, kDrafterIsRight); }
  void fit(const Cells& cells, const SurvivalCurve& before) { fit(cells, before.seen_); }

  // The probability that a node of this survival is accepted. It rises with the survival.
  float chance(float survival) const;
  // The smallest survival whose chance is at least this; over 1: there is none.
  float survival_of(float chance) const;

 private:
  using Bins = std::array<float, kCalibrationBins>;
  static const Bins kDrafterIsRight;  // the middles
  void fit(const Cells& cells, const Bins& prior);

  Bins seen_{};  // isotonic
};

}  // namespace slipstream
