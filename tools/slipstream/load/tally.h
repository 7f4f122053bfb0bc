// Adds up the samples of one run. Memory is bounded whatever their number. Pure; not thread-safe.
//
// Durations and tokens are those of complete answers; tokens of others are counted apart. For an
// answer with chunks at c1 .. ck that was scheduled at s, sent at x, ended at e and has n tokens:
//   ttft           c1 - s              from sending: c1 - x
//   itl, by chunk  c(i) - c(i-1)       one duration for each chunk but the first
//   itl, by token  the same, divided by the tokens of chunk i, and counted that often
//   tpot           (ck - c1) / (n - 1)   of answers with two tokens or more
//   e2e            e - s
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tools/slipstream/load/histogram.h"
#include "tools/slipstream/load/sample.h"
#include "tools/slipstream/load/timeline.h"

namespace slipstream::command::load {

// A request that is sent this long after its time is late: the generator, and not the server, was
// slow, or its limit of requests at once was reached.
inline constexpr Duration kLate = std::chrono::milliseconds(10);
inline constexpr size_t kProblemsMax = 8;  // different sentences that are kept

// What a good answer keeps within. nullopt: no such limit.
struct Objectives {
  std::optional<Duration> ttft, tpot;
  bool any() const { return ttft || tpot; }
};

struct Measures {
  LatencyHistogram ttft, ttft_from_sending, itl_by_chunk, itl_by_token, tpot, e2e;
};

class Tally {
 public:
  explicit Tally(Objectives objectives = {}) : objectives_(objectives) {}

  void add(const Sample& sample);
  // A run, or a part of it, has taken so long: from its beginning to the end of its last answer.
  void ran_for(Duration time) { elapsed_ += time; }

  const Objectives& objectives() const { return objectives_; }
  const Measures& measures() const { return measures_; }
  const Timeline& timeline() const { return timeline_; }
  Duration elapsed() const { return elapsed_; }

  uint64_t requests() const;  // all
  uint64_t ended(Ending ending) const { return endings_[static_cast<size_t>(ending)]; }
  uint64_t complete() const { return ended(Ending::complete); }
  uint64_t refusals_without_retry_after() const { return no_retry_after_; }
  uint64_t good() const { return good_; }  // complete, and within all objectives
  uint64_t late() const { return late_; }
  const LatencyHistogram& lateness() const { return lateness_; }  // from scheduled to sent, of all that were sent

  uint64_t tokens_in() const { return tokens_in_; }
  uint64_t tokens_out() const { return tokens_out_; }
  uint64_t tokens_out_of_parts() const { return tokens_out_of_parts_; }  // of answers that were not whole, beside tokens_out()
  uint64_t tokens_cached() const { return tokens_cached_; }              // of tokens_in, from a prefix cache
  uint64_t chunks() const { return chunks_; }
  uint64_t without_usage() const { return without_usage_; }  // answers whose tokens we had to count by chunks

  double per_s(uint64_t count) const;  // over elapsed(); 0 before ran_for()
  // What went wrong, and how often; further sentences than kProblemsMax are not kept. Of sentences
  // that differ in figures alone the first stands for all.
  const std::map<std::string, uint64_t>& problems() const { return problems_; }

 private:
  void add_complete(const Sample& sample);

  Objectives objectives_;
  Measures measures_;
  Timeline timeline_;
  Duration elapsed_{0};
  std::array<uint64_t, kEndings> endings_{};
  uint64_t no_retry_after_ = 0, good_ = 0, late_ = 0;
  LatencyHistogram lateness_;
  uint64_t tokens_in_ = 0, tokens_out_ = 0, tokens_out_of_parts_ = 0, tokens_cached_ = 0, chunks_ = 0, without_usage_ = 0;
  std::map<std::string, uint64_t> problems_;
};

}  // namespace slipstream::command::load
