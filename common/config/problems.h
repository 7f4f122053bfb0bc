// The checks that several services make of their settings; each failed one is a sentence that names the flag and the way out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/range.h"
#include "kernels/cpu/path.h"

namespace slipstream {

class Problems {
 public:
  void add(std::string sentence) { sentences_.push_back(std::move(sentence)); }
  // An address to listen on, for HTTP: readable and on loopback.
  void bind(std::string_view flag, const std::string& address);
  // Between processes, with tcp://: on loopback, or anywhere with keys.
  void tcp_bind(std::string_view flag, const std::string& endpoint, bool keyed);
  void connect(std::string_view flag, const std::vector<std::string>& endpoints, bool keyed);  // at least one, with a port
  void keys(const std::string& key, const std::string& peers);                                 // both or none
  void range(std::string_view flag, uint32_t value, const Range& range);
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
