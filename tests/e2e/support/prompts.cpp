#include "tests/e2e/support/prompts.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace slipstream::e2e {
namespace {

constexpr uint64_t kFirstSeed = 1000;
const std::filesystem::path kSource = SLIPSTREAM_SOURCE_FOLDER;

std::vector<nlohmann::json> json_lines(const std::filesystem::path& file, size_t count) {
  std::ifstream lines(file);
  if (!lines) throw std::runtime_error("cannot read " + file.string());
  std::vector<nlohmann::json> entries;
  for (std::string line; entries.size() < count && std::getline(lines, line);) entries.push_back(nlohmann::json::parse(line));
  return entries;
}

command::Question question(const std::string& prompt, int tokens_max, bool greedy, size_t index) {
  command::Question question;
  question.text = prompt;
  question.tokens_max = tokens_max;
  question.temperature = greedy ? 0.0F : 1.0F;
  question.seed = kFirstSeed + index;
  return question;
}

}  // namespace

std::vector<std::string> committed_prompts(size_t count) {
  std::vector<std::string> prompts;
  for (const auto& entry : json_lines(kSource / "tests/e2e/data/prompts.jsonl", count)) prompts.push_back(entry.at("prompt"));
  return prompts;
}

std::vector<std::string> shared_prompts(size_t count) {
  const char* chosen = std::getenv("SLIPSTREAM_DATA");
  const auto folder = chosen != nullptr ? std::filesystem::path(chosen) : kSource / ".." / "shared" / "data";
  const auto file = folder / "spec_bench" / "question.jsonl";
  if (!std::filesystem::exists(file)) return committed_prompts(count);
  // Spread over the file, which is sorted by category.
  const auto entries = json_lines(file, static_cast<size_t>(-1));
  std::vector<std::string> prompts;
  for (size_t i = 0; i < std::min(count, entries.size()); ++i) {
    prompts.push_back(entries[i * entries.size() / std::min(count, entries.size())].at("turns").at(0));
  }
  return prompts;
}

std::vector<command::Question> by_turns(const std::vector<std::string>& prompts, int tokens_max) {
  std::vector<command::Question> questions;
  for (size_t i = 0; i < prompts.size(); ++i) questions.push_back(question(prompts[i], tokens_max, i % 2 == 0, i));
  return questions;
}

std::vector<command::Question> both_ways(const std::vector<std::string>& prompts, int tokens_max) {
  std::vector<command::Question> questions;
  for (bool greedy : {true, false}) {
    for (size_t i = 0; i < prompts.size(); ++i) questions.push_back(question(prompts[i], tokens_max, greedy, i));
  }
  return questions;
}

}  // namespace slipstream::e2e
