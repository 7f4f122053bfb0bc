// A folder of a test's own, gone with the test; and safetensors files written byte by byte, so that
// they can be wrong.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/data/own_path.h"

namespace slipstream {

class Folder {
 public:
  Folder() : path_(own_path(name())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void write(const std::string& file, const std::string& text) const { std::ofstream(path_ / file, std::ios::binary) << text; }
  void write_safetensors(const std::string& file, std::string header, size_t data_bytes) const {
    header.resize((header.size() + 7) / 8 * 8, ' ');  // as writers do, so that data begins at a multiple of 8
    std::string text;
    for (int byte = 0; byte < 8; ++byte) text += static_cast<char>(static_cast<uint64_t>(header.size()) >> 8 * byte);
    write(file, text + header + std::string(data_bytes, '\1'));
  }

 private:
  static std::string name() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    return std::string(test->test_suite_name()) + "_" + test->name();
  }
  std::filesystem::path path_;
};

}  // namespace slipstream
