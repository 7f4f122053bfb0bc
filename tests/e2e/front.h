// A server that stands before a router, over HTTP, and may be made to lie: what a user would meet
// whose server has a bug. It hands every request on and every event of the answer back, after a
// test has had its way with it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "common/http/client.h"
#include "common/http/server.h"

namespace slipstream::e2e {

class Front {
 public:
  // Changes the events of one answer, in their order.
  using Change = std::function<void(nlohmann::json& event)>;
  // Called with each request, from several threads; an empty Change leaves its answer as it is.
  using Plot = std::function<Change(const nlohmann::json& request)>;

  // owner: whose model /v1/models shall say that it is.
  Front(uint16_t router, Plot plot, std::string owner = "slipstream");
  ~Front();
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;

  std::string url() const;

 private:
  using Call = std::pair<http::Request, http::Exchange>;
  void hand_on_all(const std::stop_token& stop);
  void hand_on(http::Client& router, const Call& call) const;
  http::Response page(http::Client& router, const std::string& path) const;

  const uint16_t router_;
  const Plot plot_;
  const std::string owner_;
  std::mutex mutex_;
  std::condition_variable_any more_;
  std::deque<Call> calls_;  // under the mutex
  std::vector<std::jthread> threads_;
  http::Server server_;
};

}  // namespace slipstream::e2e
