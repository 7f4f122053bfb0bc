#include "common/config/router_list.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/config/endpoint.h"

namespace slipstream {
namespace {

// One spelling of each: "localhost" is 127.0.0.1. Without the name of its key.
std::string address_of(const std::string& router) {
  const auto endpoint = parse_endpoint(router.substr(0, router.find('#')));
  return endpoint ? endpoint->tcp() : router;
}
std::string key_of(const std::string& router) { return router.substr(std::min(router.find('#'), router.size())); }

}  // namespace

std::vector<std::string> drop_repeats(std::vector<std::string>& routers) {
  std::vector<std::string> sentences, kept, addresses;
  for (std::string& router : routers) {
    std::string address = address_of(router);
    if (const auto at = std::ranges::find(addresses, address); at != addresses.end()) {
      const std::string& first = kept[static_cast<size_t>(at - addresses.begin())];
      sentences.push_back(router == first ? fmt::format("--router names {} twice; it counts once", router)
                                          : fmt::format("--router names {}, which is {} again; it counts once", router, first));
      continue;
    }
    kept.push_back(address + key_of(router));
    addresses.push_back(std::move(address));
  }
  routers = std::move(kept);
  return sentences;
}

}  // namespace slipstream
