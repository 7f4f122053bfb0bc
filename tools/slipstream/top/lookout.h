// Looks at a running fleet over HTTP: at the router, and at each worker's own page, where that can
// be reached from here. Not thread-safe.
//
//   Lookout lookout(url, ca_file, api_key);
//   const FleetLook now = lookout.look();
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <utility>

#include "common/http/client.h"
#include "tools/slipstream/chat_client.h"
#include "tools/slipstream/top/look.h"

namespace slipstream::command::top {

inline constexpr std::chrono::milliseconds kLookTimeout{1000};  // of one page, in all

class Lookout {
 public:
  // Error: the file of authorities cannot be read.
  static Result<Lookout> open(const ServerUrl& url, const std::string& ca_file, const std::string& api_key);
  // Always gives a look: one at a router that does not answer says so in its `trouble`. It takes at
  // most kLookTimeout for each page; a worker that did not answer is asked every kRests looks.
  FleetLook look();

 private:
  static constexpr int kRests = 10;
  struct Page {
    http::Client client;
    std::string path;
    int rests = 0;  // looks until it is asked again
  };

  Lookout(std::string url, http::Client router) : url_(std::move(url)), router_(std::move(router)) {}
  Result<void> read_router(FleetLook& look);
  void read_page(WorkerLook& worker);
  Page* page_of(const std::string& address);  // null: it is no address

  std::string url_, model_;
  http::Client router_;
  std::map<std::string, Page> pages_;  // by address
};

}  // namespace slipstream::command::top
