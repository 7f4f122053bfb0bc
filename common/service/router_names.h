// Finds the routers that names in DNS stand for, and goes on looking: routers come and go, and a
// pod that is replaced has another address.
//
//   const RouterNames names({"dns://routers:7300#router"}, [&](auto endpoints) { return loop.post(RoutersNamed{endpoints}); });
//
// Each address of a name is a router with the name's port and key. A name that cannot be looked up
// now keeps the addresses that it had: routers outlive their DNS.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/base/host_addresses.h"
#include "common/base/result.h"

namespace slipstream {

// From the end of one look-up to the next.
inline constexpr std::chrono::milliseconds kLookUpEvery{2000};

class RouterNames {
 public:
  using LookUp = std::function<Result<std::vector<std::string>>(const std::string& host)>;
  // Takes the endpoints of all names whenever they change. False: it could not take them, and gets
  // them again after the next look-up. The thread of this class calls it.
  using Found = std::function<bool(std::vector<std::string> endpoints)>;

  // names: "dns://host:port", perhaps with "#key"; none: no thread is started.
  RouterNames(std::vector<std::string> names, Found found, LookUp look_up = addresses_of,
              std::chrono::milliseconds every = kLookUpEvery);

 private:
  void keep_looking(const std::stop_token& ending);
  void look();
  void look_at(const std::string& name);

  const std::vector<std::string> names_;
  const Found found_;
  const LookUp look_up_;
  const std::chrono::milliseconds every_;
  std::map<std::string, std::vector<std::string>> endpoints_;  // by name, as the last look-up that succeeded had them
  std::map<std::string, std::string> faults_;                  // by name: why the newest look-up failed, as it was logged
  std::vector<std::string> told_;                              // what found_ has taken
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;  // last: it uses the members above
};

}  // namespace slipstream
