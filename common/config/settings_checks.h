// Checks of settings that several programs have, and the allowed values of --method, --path and
// --weights.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/device_name.h"
#include "common/base/endpoint.h"
#include "kernels/cpu/path.h"

namespace slipstream {

// The allowed values: the names of kernels/cpu, after one word that leaves the choice open.
std::vector<std::string> path_choices();                      // "auto" (the fastest for one row on this CPU), then all paths
std::vector<std::string> all_weights_choices();               // of any device
std::vector<std::string> weights_choices(DeviceKind device);  // "file" first

// The draft methods (base/names.h), with ", " between them.
std::string method_words();          // for --help: "ngram (look-up in the sequence itself), small-lm (a small model)"
std::string methods_with_model();    // "small-lm"
std::string methods_with_network();  // "small-lm, draft-head": those that compute on a device

// A sentence if `cpu` cannot run the path: it names the missing instruction set and the paths that
// the CPU can run. nullopt if it can, or if there is no such path (Problems::one_of reports that).
std::optional<std::string> path_problem(std::string_view flag, std::string_view path, const CpuFeatures& cpu);

// Removes repeated addresses from the list of a worker's routers, and spells each address in one
// way ("localhost" becomes 127.0.0.1). The first mention of an address stays, with its key. Returns
// a sentence for each that was removed.
//
// A worker that connects to one router twice would appear there as two workers of one identity.
std::vector<std::string> drop_repeats(std::vector<std::string>& routers);

// What computes a model, as its flags have it.
struct Computing {
  std::string device = "cpu", path = "auto", weights = "file";
  bool fast_rows = false, fine_rows = false;
};

// Collects what is wrong with the settings. Each check that fails adds a sentence that names the
// flag and says what to do. Numbers are not checked here: CommandLine does that.
class Problems {
 public:
  void add(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  // An HTTP address to listen on: it parses, and it is on loopback or may be `reachable` from other
  // machines. ways: what makes it so, for the sentence.
  void http_bind(std::string_view flag, const std::string& address, bool reachable, std::string_view ways);
  // Endpoints between processes, to listen on and to connect to: they begin with tcp:// and parse.
  // Without keys they must be on loopback.
  void tcp_bind(std::string_view flag, const std::string& endpoint, bool keyed);
  void connect(std::string_view flag, const std::string& endpoint, bool keyed);
  // Where the routers are, at least one: endpoints to connect to, and names (dns://).
  void routers(std::string_view flag, const std::vector<std::string>& routers, bool keyed);
  // An HTTP address that others are told.
  void http_connect(std::string_view flag, const std::string& address);
  void http_url(std::string_view flag, const std::string& url);      // http://host:port, without a path
  void keys(const std::string& key, const std::string& peers);       // both are given or neither
  void tls(const std::string& certificate, const std::string& key);  // both are given or neither
  // Acceptance rules that clients may choose: each is known, and `coupled` is one of them.
  void rules(std::string_view flag, const std::vector<std::string>& rules);
  void one_of(std::string_view flag, const std::string& value, const std::vector<std::string>& known);
  void path(const std::string& path, const CpuFeatures& cpu = this_cpu());  // --path: known, and `cpu` can run it
  void device(const Computing& how);  // --device is known, and the other settings are what it has
  // --cache-memory is a size, and does not stand beside --cache-tokens. memory: empty: it is unset.
  void cache(bool tokens, const std::string& memory);
  void model(std::string_view flag, const std::string& path);  // it is a folder or a file; its content is not read
  void log_level(const std::string& name);

  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  // What an endpoint to connect to needs in order to be reached; `text` is how the user wrote it.
  void reachable(std::string_view flag, const std::string& text, const Endpoint& endpoint, bool keyed);

  std::vector<std::string> sentences_;
};

}  // namespace slipstream
