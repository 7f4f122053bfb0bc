#include "common/service/router_names.h"

#include <algorithm>
#include <utility>

#include "common/base/endpoint.h"
#include "common/base/log.h"

namespace slipstream {
namespace {

void sort_out_repeats(std::vector<std::string>& texts) {
  std::ranges::sort(texts);
  const auto repeats = std::ranges::unique(texts);
  texts.erase(repeats.begin(), repeats.end());
}

}  // namespace

RouterNames::RouterNames(std::vector<std::string> names, Found found, LookUp look_up, std::chrono::milliseconds every)
    : names_(std::move(names)), found_(std::move(found)), look_up_(std::move(look_up)), every_(every) {
  if (!names_.empty()) thread_ = std::jthread([this](const std::stop_token& ending) { keep_looking(ending); });
}

void RouterNames::keep_looking(const std::stop_token& ending) {
  std::unique_lock lock(mutex_);
  while (!ending.stop_requested()) {
    look();
    ended_.wait_for(lock, ending, every_, [] { return false; });
  }
}

void RouterNames::look() {
  for (const std::string& name : names_) look_at(name);
  std::vector<std::string> all;
  for (const auto& [name, endpoints] : endpoints_) all.insert(all.end(), endpoints.begin(), endpoints.end());
  sort_out_repeats(all);
  if (all != told_ && found_(all)) told_ = std::move(all);
}

void RouterNames::look_at(const std::string& name) {
  const KeyedEndpoint keyed = split_key(without_name_scheme(name));
  const auto endpoint = parse_endpoint(keyed.endpoint, Use::connect);
  const auto addresses = endpoint ? look_up_(endpoint->host) : std::unexpected(endpoint.error());
  const std::string fault = addresses ? "" : addresses.error().message;
  if (std::exchange(faults_[name], fault) != fault && !fault.empty()) {
    log_warning("--router {}: {}; looked up again every {} ms", name, fault, every_.count());
  }
  if (!addresses) return;
  std::vector<std::string> endpoints;
  for (const std::string& address : *addresses) {
    endpoints.push_back(Endpoint{address, endpoint->port}.tcp() + (keyed.key.empty() ? "" : "#" + keyed.key));
  }
  endpoints_[name] = std::move(endpoints);
}

}  // namespace slipstream
