#include "common/config/router_list.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/config/endpoint.h"

namespace slipstream {
namespace {

// What two mentions of one router have in common: "localhost" is 127.0.0.1, and the name of its key does not matter.
std::string address_of(const std::string& router) {
  const auto endpoint = parse_endpoint(router.substr(0, router.find('#')));
  return endpoint ? endpoint->address() : router;
}

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
    addresses.push_back(std::move(address));
    kept.push_back(std::move(router));
  }
  routers = std::move(kept);
  return sentences;
}

}  // namespace slipstream
