// The checks that several services make of their settings, and what --path and --weights may say.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cpu/path.h"

namespace slipstream {

// The paths and weight formats of kernels/cpu, and one word each that leaves it open.
std::vector<std::string> path_choices();     // "auto", the fastest that this CPU has; then all paths, slowest first
std::vector<std::string> weights_choices();  // "file", as the model's file has them; then all formats

// A sentence where `path` names one that `cpu` cannot run: which instruction set it lacks, and what
// it can run.
std::optional<std::string> path_problem(std::string_view flag, std::string_view path, const CpuFeatures& cpu);

// Of the routers that a worker is told to offer itself to, leaves each address once: the first
// mention of it, as all workers spell it (worker/membership.h compares them). A worker that
// connects to one router twice is two workers of one identity, and takes one of the connections for
// a stranger's. Returns a sentence for each that went.
std::vector<std::string> drop_repeats(std::vector<std::string>& routers);

// Each check that fails is a sentence that names the flag and the way out. Numbers are checked by
// CommandLine.
class Problems {
 public:
  void add(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  // An address to listen on, for HTTP: readable and on loopback.
  void bind(std::string_view flag, const std::string& address);
  // Between processes, with tcp://: on loopback, or anywhere with keys.
  void tcp_bind(std::string_view flag, const std::string& endpoint, bool keyed);
  void connect(std::string_view flag, const std::vector<std::string>& endpoints, bool keyed);  // at least one, with a port
  void keys(const std::string& key, const std::string& peers);                                 // both or none
  void one_of(std::string_view flag, const std::string& value, const std::vector<std::string>& known);
  void path(const std::string& path, const CpuFeatures& cpu = this_cpu());  // --path: known, and that CPU can run it
  void weights(const std::string& weights);                                 // --weights
  void model(std::string_view flag, const std::string& path);  // a folder or a file; what is in it shows when it is read
  void log_level(const std::string& name);

  std::vector<std::string> take() { return std::move(sentences_); }

 private:
  std::vector<std::string> sentences_;
};

}  // namespace slipstream
