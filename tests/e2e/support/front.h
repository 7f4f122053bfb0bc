// An HTTP server before a router that a test can make lie, as a server with a bug would. It
// passes on every request, and every event of the answer after the test has changed it.
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
  // Called with each request, from several threads. An empty Change leaves the answer as it is.
  using Plot = std::function<Change(const nlohmann::json& request)>;

  // owner: the owner of the model that /v1/models tells.
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
