// slipstream-train as a process, in a folder of the test's own.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "tests/unit/tools/train/tiny_features.h"

extern char** environ;

namespace slipstream::train {

inline constexpr const char* kModel = SLIPSTREAM_TEST_DATA "/tiny-llama";

class SlipstreamTrain : public testing::Test {
 protected:
  void SetUp() override {
    // Pages of this repository: they are there, and change little.
    std::vector<std::string> shard{"shard", folder_ / "shard", "--model", kModel, "--text"};
    for (const char* page : {"use/API.md", "use/SERVE.md", "use/METRICS.md", "lab/PERFORMANCE.md", "lab/RULES.md"}) {
      shard.push_back(std::string(SLIPSTREAM_PAGES "/") + page);
    }
    ASSERT_EQ(run(shard), 0) << said();
  }

  pid_t start(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{SLIPSTREAM_TRAIN};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const std::string log = folder_ / "log";
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    pid_t child = -1;
    EXPECT_EQ(posix_spawn(&child, SLIPSTREAM_TRAIN, &actions, nullptr, pointers.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return child;
  }
  // The exit status, or minus the signal.
  static int wait(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  }
  int run(const std::vector<std::string>& arguments) const { return wait(start(arguments)); }
  std::string said() const { return folder_.read("log"); }

  // Of a small model. more: flags with their values, which replace those of the same flag.
  std::vector<std::string> training(const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"run",
                                       "--out",
                                       folder_ / out,
                                       "--data",
                                       folder_ / "shard",
                                       "--model",
                                       kModel,
                                       "--new-weights",
                                       "--layers",
                                       "2",
                                       "--hidden",
                                       "32",
                                       "--intermediate",
                                       "64",
                                       "--length",
                                       "32",
                                       "--batch",
                                       "4",
                                       "--micro-batch",
                                       "2",
                                       "--warmup-steps",
                                       "5",
                                       "--threads",
                                       "2",
                                       "--checkpoint-steps",
                                       "10"};
    for (size_t i = 0; i + 1 < more.size(); i += 2) {
      const auto there = std::ranges::find(arguments, more[i]);
      if (there != arguments.end()) {
        there[1] = more[i + 1];
      } else {
        arguments.insert(arguments.end(), {more[i], more[i + 1]});
      }
    }
    return arguments;
  }
  int64_t lines(const std::string& file) const { return std::ranges::count(folder_.read(file), '\n'); }
  void wait_for_step(const std::string& out, int64_t step) const {
    for (int i = 0; i < 12'000 && lines(out + "/losses.tsv") < step + 1; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  TestFolder folder_;
};

// Chats of a file, as target_documents.py writes them.
inline std::string chats(size_t count) {
  std::string text;
  for (const ChatDocument& chat : random_chats(count)) {
    text += fmt::format("[{{\"token_ids\": [{}], \"answer\": {}}}]\n", fmt::join(chat.tokens, ", "), chat.answer);
  }
  return text;
}

}  // namespace slipstream::train
