// What the verifiers of a fleet have counted of drafts, added up over all of them: by kind of
// drafter, and by depth. Pure.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/slipstream/top/screen.h"

namespace slipstream::command::top {

class Verified {
 public:
  // A verifier's page, and what it has grown by since an earlier look; null: there was none.
  void add(const Scrape& page, const Scrape* more);

  Figure tokens_a_step() const;
  // By depth; empty: nothing was verified between the looks.
  std::vector<DepthFigures> depths() const;
  std::vector<KindFigures> kinds(double seconds) const;  // between the looks

 private:
  struct Mean {
    double sum = 0, pages = 0;  // of the pages that have it
  };
  struct Kind {
    double drafters = 0, rounds = 0, asked = 0, verified = 0, accepted = 0;
    Mean greedy_gain, sampled_gain;
  };
  using Name = std::pair<std::string, std::string>;  // method, model

  void add_gauges(const Scrape& page);
  void add_growth(const Scrape& more);

  std::map<Name, Kind> kinds_;
  std::vector<DepthFigures> depths_;  // in the order of the page
  double pages_ = 0, node_price_ = 0;
  double trees_ = 0, accepted_ = 0;
  bool grown_ = false;  // there was an earlier look at one of them
};

}  // namespace slipstream::command::top
