// Streams that ask again and again, while a test does harm to the processes: each answer must be
// word for word what it is in peace.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/cluster.h"

namespace slipstream::e2e {

struct LoadReport {
  int answers = 0;                  // whole ones, each as expected
  int cut = 0;                      // ended by an error; what had come was as expected
  int turned_away = 0;              // by a router that was not there or closing; the next one was asked
  std::vector<std::string> wrong;   // what was not
  std::vector<std::string> errors;  // of those cut, each once
  double longest_pause_s = 0;       // between two pieces of text, or a question and its first
};

// The text of each answer.
std::vector<std::string> learn_answers(Cluster& cluster, const std::vector<Question>& questions);

class Load {
 public:
  // Asks each question over a connection of its own until destroyed, one router or the other, as a
  // load balancer would. What the answers are is learned first, or told by who learned it
  // elsewhere, in peace.
  Load(Cluster& cluster, std::vector<Question> questions, const std::vector<std::string>& routers = {"router"});
  Load(Cluster& cluster, std::vector<Question> questions, const std::vector<std::string>& routers,
       std::vector<std::string> expected);
  ~Load();

  // What happened since the last report.
  LoadReport report();
  int answers() const { return answers_; }  // since the beginning

 private:
  void ask_again_and_again(const std::stop_token& stop, size_t stream);
  bool ask_once(uint16_t port, const std::stop_token& stop, size_t stream);  // false: turned away

  std::vector<uint16_t> ports_;
  const std::string model_;
  const std::vector<Question> questions_;
  const std::vector<std::string> expected_;  // text
  std::atomic<int> answers_ = 0;

  std::mutex mutex_;  // guards what follows
  LoadReport report_;

  std::vector<std::jthread> streams_;  // last: they end before the rest goes
};

// Eight questions to the tiny model, half of them greedy, half with a seed at temperature 1.
std::vector<Question> eight_questions(int tokens);

}  // namespace slipstream::e2e
