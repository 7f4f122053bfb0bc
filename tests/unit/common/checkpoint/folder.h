// A folder of a test's own, gone with the test; and safetensors files written byte by byte, so that
// they can be wrong.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>

#include "tests/data/own_path.h"

namespace slipstream {

class Folder {
 public:
  Folder() : path_(own_path(name())) {  // of one test, one at a time
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // All files of another folder, over those that are here.
  void copy(const std::filesystem::path& from) const {
    using std::filesystem::copy_options;
    std::filesystem::copy(from, path_, copy_options::recursive | copy_options::overwrite_existing);
  }
  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::ifstream in(path_ / file, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    const size_t at = text.find(from);
    ASSERT_NE(at, text.npos) << from;
    write(file, text.replace(at, from.size(), to));
  }
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
