#include "common/config/settings_checks.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/base/endpoint.h"
#include "common/base/log.h"
#include "common/base/names.h"
#include "common/config/byte_size.h"
#include "kernels/cpu/panels.h"

namespace slipstream {
namespace {

// The address in the one spelling that Endpoint has, without the name of the key; a text that does
// not parse stays as it is, and Problems::routers reports it later.
std::string address_of(const std::string& router) {
  const std::string address = split_key(router).endpoint;
  const auto endpoint = parse_endpoint(is_name(address) ? without_name_scheme(address) : address);
  if (!endpoint) return address;
  return is_name(address) ? std::string(kNameScheme) + endpoint->address() : endpoint->tcp();
}
// The '#' and the name after it, or nothing.
std::string key_of(const std::string& router) { return router.substr(std::min(router.find('#'), router.size())); }

}  // namespace

std::vector<std::string> path_choices() {
  std::vector<std::string> choices{"auto"};
  for (const CpuPath path : all_cpu_paths()) choices.emplace_back(name(path));
  return choices;
}

std::vector<std::string> all_weights_choices() {
  std::vector<std::string> choices = weights_choices(DeviceKind::cpu);
  for (const std::string& each : weights_choices(DeviceKind::cuda)) {
    if (std::ranges::find(choices, each) == choices.end()) choices.push_back(each);
  }
  return choices;
}

std::vector<std::string> weights_choices(DeviceKind device) {
  std::vector<std::string> choices{"file"};
  if (device != DeviceKind::cpu) choices.assign(kTorchWeights.begin(), kTorchWeights.end());
  if (device == DeviceKind::cuda) choices.emplace_back(kSmallWeights);
  if (device == DeviceKind::torch_cpu) return choices;
  for (const WeightFormat format : kAllWeightFormats) {
    if (std::ranges::find(choices, name(format)) == choices.end()) choices.emplace_back(name(format));
  }
  return choices;
}

std::string method_words() {
  std::vector<std::string> words;
  for (const auto& method : kDraftMethods) words.push_back(fmt::format("{} ({})", method.name, method.what));
  return fmt::format("{}", fmt::join(words, ", "));
}

namespace {

template <class Wanted>
std::string methods_whose_network(const Wanted& wanted) {
  std::vector<std::string_view> names;
  for (const auto& method : kDraftMethods) {
    if (wanted(method.network)) names.push_back(method.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string methods_with_model() {
  return methods_whose_network([](DraftNetwork network) { return network == DraftNetwork::model; });
}

std::string methods_with_network() {
  return methods_whose_network([](DraftNetwork network) { return network != DraftNetwork::none; });
}

std::optional<std::string> path_problem(std::string_view flag, std::string_view wanted, const CpuFeatures& cpu) {
  const auto path = cpu_path(wanted);
  const char* missing = path ? missing_for(*path, cpu) : nullptr;
  if (missing == nullptr) return std::nullopt;
  std::vector<std::string_view> possible{"auto"};
  for (const CpuPath each : all_cpu_paths()) {
    if (missing_for(each, cpu) == nullptr) possible.push_back(name(each));
  }
  return fmt::format("{} {} needs {}, which this CPU lacks; choose one of: {}", flag, wanted, missing,
                     fmt::join(possible, ", "));
}

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

void Problems::http_bind(std::string_view flag, const std::string& address, bool reachable, std::string_view ways) {
  const auto endpoint = parse_endpoint(address);
  if (!endpoint) {
    add(fmt::format("{}: {}", flag, endpoint.error().message));
  } else if (!endpoint->loopback() && !reachable) {
    add(fmt::format("{} {} would be reachable from other machines; give {}; or bind 127.0.0.1", flag, address, ways));
  }
}

void Problems::tcp_bind(std::string_view flag, const std::string& endpoint, bool keyed) {
  if (!endpoint.starts_with("tcp://")) {
    return add(fmt::format("{} {} has no tcp:// before it; write tcp://127.0.0.1:PORT", flag, endpoint));
  }
  const auto parsed = parse_endpoint(endpoint);
  if (!parsed) {
    add(fmt::format("{}: {}", flag, parsed.error().message));
  } else if (!parsed->loopback() && !keyed) {
    add(fmt::format(
        "{} {} would be reachable from other machines, and without keys nobody can tell friend from stranger; make keys with "
        "`slipstream keys new` and give --key and --peers, or bind tcp://127.0.0.1:PORT",
        flag, endpoint));
  }
}

void Problems::keys(const std::string& key, const std::string& peers) {
  if (key.empty() == peers.empty()) return;
  add(fmt::format("{} is given without {}: a process needs its own key and the folder of those it may speak with",
                  key.empty() ? "--peers" : "--key", key.empty() ? "--key" : "--peers"));
}

void Problems::tls(const std::string& certificate, const std::string& key) {
  if (certificate.empty() == key.empty()) return;
  add(fmt::format("{} is given without {}: HTTPS needs the certificate and its private key",
                  key.empty() ? "--tls-cert" : "--tls-key", key.empty() ? "--tls-key" : "--tls-cert"));
}

void Problems::routers(std::string_view flag, const std::vector<std::string>& routers, bool keyed) {
  if (routers.empty()) add(fmt::format("{} names no endpoint; give one, such as tcp://127.0.0.1:7300", flag));
  for (const std::string& router : routers) {
    if (!is_name(router)) {
      connect(flag, router, keyed);
    } else if (const auto endpoint = parse_endpoint(split_key(without_name_scheme(router)).endpoint, Use::connect); !endpoint) {
      add(fmt::format("{}: {}", flag, endpoint.error().message));
    } else {
      reachable(flag, router, *endpoint, keyed);
    }
  }
}

void Problems::connect(std::string_view flag, const std::string& text, bool keyed) {
  if (const size_t scheme = text.find("://"); scheme != text.npos && !text.starts_with("tcp://")) {
    return add(
        fmt::format("{} {} is no endpoint between processes; write tcp://HOST:PORT, as the log of the one it names has it "
                    "(a router's: \"workers connect to tcp://...\", another port than that of its HTTP API)",
                    flag, text));
  }
  const auto endpoint = parse_endpoint(split_key(text).endpoint, Use::connect);
  if (!endpoint) {
    add(fmt::format("{}: {}", flag, endpoint.error().message));
  } else if (!text.starts_with("tcp://")) {
    add(fmt::format("{} {} has no tcp:// before it; write tcp://host:port with the port it listens on", flag, text));
  } else {
    reachable(flag, text, *endpoint, keyed);
  }
}

void Problems::reachable(std::string_view flag, const std::string& text, const Endpoint& endpoint, bool keyed) {
  if (keyed) return;
  if (!endpoint.loopback()) {
    add(
        fmt::format("{} {} is beyond this machine, and without keys messages would travel in clear; make keys with "
                    "`slipstream keys new` and "
                    "give --key and --peers, or use a tunnel to tcp://127.0.0.1:PORT",
                    flag, text));
  } else if (!split_key(text).key.empty()) {
    add(fmt::format("{} {} names a key, and this process has none: give it --key and --peers", flag, text));
  }
}

void Problems::http_connect(std::string_view flag, const std::string& address) {
  if (const auto endpoint = parse_endpoint(address, Use::connect); !endpoint) {
    add(fmt::format("{}: {}", flag, endpoint.error().message));
  }
}

void Problems::http_url(std::string_view flag, const std::string& url) {
  constexpr std::string_view kHttp = "http://";
  if (url.starts_with(kHttp) && parse_endpoint(url.substr(kHttp.size()), Use::connect)) return;
  add(fmt::format("{} is \"{}\": write its address as http://HOST:PORT, without a path", flag, url));
}

void Problems::rules(std::string_view flag, const std::vector<std::string>& rules) {
  const size_t before = sentences_.size();
  for (const std::string& rule : rules) {
    if (std::ranges::find(kRuleNames, rule) != kRuleNames.end()) continue;
    add(fmt::format("{} has \"{}\", which is no rule: give some of {}", flag, rule, fmt::join(kRuleNames, ", ")));
  }
  if (sentences_.size() == before && std::ranges::find(rules, "coupled") == rules.end())
    add(fmt::format("{} must have coupled, which needs nobody's trust", flag));
}

void Problems::one_of(std::string_view flag, const std::string& value, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), value) == known.end()) {
    add(fmt::format("{} \"{}\" is not known; choose one of: {}", flag, value, fmt::join(known, ", ")));
  }
}

void Problems::path(const std::string& path, const CpuFeatures& cpu) {
  one_of("--path", path, path_choices());
  if (auto sentence = path_problem("--path", path, cpu)) add(*std::move(sentence));
}

void Problems::device(const Computing& how) {
  const auto& [device, path, weights, fast_rows, fine_rows] = how;
  const auto name = device_name(device);
  if (!name) return add(fmt::format("--device \"{}\" is not known; choose one of: {}", device, kDeviceChoices));
  const bool torch = name->kind != DeviceKind::cpu;
  const std::vector<std::string> known = weights_choices(name->kind), all = all_weights_choices();
  if (std::ranges::find(known, weights) == known.end() && std::ranges::find(all, weights) != all.end()) {
    add(fmt::format("--weights \"{}\" is of another --device; choose one of: {}", weights, fmt::join(known, ", ")));
  } else {
    one_of("--weights", weights, known);
  }
  if (torch && path != "auto") add(fmt::format("--path {} is of --device cpu; leave it out with --device {}", path, device));
  if (!torch && fast_rows) add("--fast-rows is of torch's devices; --device cpu is as fast either way, so leave it out");
  if (!fine_rows) return;
  if (torch) return add(fmt::format("--fine-rows is of --device cpu; {} rounds no row to int8, so leave it out", device));
  if (weights == "bf16") add("--fine-rows is of small weights; with --weights bf16 no row is rounded to int8, so leave it out");
  if (path == "amx_bf16") add("--fine-rows is of other paths; --path amx_bf16 rounds no row to int8, so leave it out");
}

void Problems::cache(bool tokens, const std::string& memory) {
  if (memory.empty()) return;
  if (const auto size = byte_size(memory); !size) add("--cache-memory " + size.error().message);
  if (tokens) add("--cache-tokens and --cache-memory both say how large the cache is; leave one of them out");
}

void Problems::model(std::string_view flag, const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error) && !std::filesystem::is_regular_file(path, error)) {
    add(fmt::format(
        "{} {} is neither a folder nor a file that can be read; `make setup` brings the demo model, or name a Hugging "
        "Face model folder or a GGUF file",
        flag, path));
  }
}

void Problems::log_level(const std::string& name) {
  if (!log_level_from(name)) add(fmt::format("--log-level \"{}\" is not known; choose {}", name, kLogLevelNames));
}

}  // namespace slipstream
