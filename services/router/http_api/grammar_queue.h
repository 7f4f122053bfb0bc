// Requests whose grammar must be compiled wait here for the grammar thread, where clients take
// turns. One whose client leaves does not hold up others, nor does one that has waited too long,
// which is told so. Those that wait for the grammar that was just compiled go on with it.
//
//   const auto over = queue.wait({.by = tenant, .text = ..., .go_on = ..., .give_up = ...});
//   if (!over) ...          // 429, with the time that the queue takes now
//   exchange.on_gone([over = *over] { *over = true; });
//
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "common/grammar/grammar_cache.h"
#include "services/router/http_api/api_error.h"

namespace slipstream {

class GrammarQueue {
 public:
  using Clock = std::chrono::steady_clock;
  // A turn on the grammar thread, of that client; it is dropped if it is over before.
  struct Turn {
    std::function<void()> run;
    uint64_t by;
    std::function<bool()> over;
  };
  struct Ports {
    std::function<bool(Turn)> post;  // false: too many wait, of this client or of all
    std::function<Clock::time_point()> now;
  };
  // wait_most: a request that has waited longer is given up.
  GrammarQueue(Grammars grammars, Clock::duration wait_most, Ports ports)
      : grammars_(std::move(grammars)), wait_most_(wait_most), ports_(std::move(ports)) {}

  GrammarCache& grammars() { return grammars_; }

  struct Request {
    uint64_t by;  // whose turn it waits for
    GrammarText text;
    // Both on the grammar thread; one of them is called once, unless the request is over before.
    std::function<void(Clock::duration waited)> go_on;  // compiles the grammar
    std::function<void(const ApiError&)> give_up;
  };
  // Set it when nobody waits for the request any more.
  using Over = std::shared_ptr<std::atomic<bool>>;
  ApiResult<Over> wait(Request request);
  void forget_over();  // drops what belongs to requests that are over

 private:
  struct Waiting {
    Request request;
    Clock::time_point since;
    Over over;
  };
  void turn(const Over& over);
  // Takes those out for which `is` holds, and returns those of them that are not over.
  std::vector<Waiting> take(const std::function<bool(const Waiting&)>& is);
  int retry_after_s();
  ApiError full();
  ApiError too_late();

  GrammarCache grammars_;
  const Clock::duration wait_most_;
  const Ports ports_;

  std::mutex mutex_;                      // guards what follows
  std::list<Waiting> waiting_;            // oldest first; some may be over
  std::chrono::duration<double> mean_{};  // of the last turns; 0: there was none
};

}  // namespace slipstream
