// `promtool check metrics`, Prometheus' own opinion of a page.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace slipstream {

// What it complains of; empty: nothing.
inline std::string promtool_complaints(const std::string& page) {
  std::string path = (std::filesystem::temp_directory_path() / "slipstream-metrics-XXXXXX").string();
  ::close(::mkstemp(path.data()));
  std::ofstream(path) << page;
  std::FILE* pipe = ::popen(("'" SLIPSTREAM_PROMTOOL "' check metrics < '" + path + "' 2>&1").c_str(), "r");
  std::string said;
  char piece[4096];
  for (size_t n = 0; (n = std::fread(piece, 1, sizeof piece, pipe)) > 0;) said.append(piece, n);
  const int status = ::pclose(pipe);
  std::filesystem::remove(path);
  return status == 0 ? said : said + "promtool ended with status " + std::to_string(status);
}

}  // namespace slipstream
