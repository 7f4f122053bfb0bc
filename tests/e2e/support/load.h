// Streams that ask again and again while a test harms the processes. Each answer must have the
// words that it has without harm.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/e2e/support/cluster.h"

namespace slipstream::e2e {

struct LoadReport {
  int answers = 0;                  // whole ones, each as expected
  int cut = 0;                      // ended by an error, after text that was as expected
  int turned_away = 0;              // by a router that was not there or was draining; the next one was asked
  std::vector<std::string> wrong;   // answers with other text
  std::vector<std::string> errors;  // of the answers that were cut, each error once
  double longest_pause_s = 0;       // between two pieces of text, or a question and its first
};

// The text of each answer.
std::vector<std::string> learn_answers(Cluster& cluster, const std::vector<Question>& questions);

class Load {
 public:
  // Asks each question over a connection of its own until destroyed, at one router or the other, as
  // a load balancer would. The first form asks for the right answers before it begins; the second
  // is told them.
  Load(Cluster& cluster, std::vector<Question> questions, const std::vector<std::string>& routers = {"router"});
  Load(Cluster& cluster, std::vector<Question> questions, const std::vector<std::string>& routers,
       std::vector<std::string> expected);
  ~Load();

  // The events since the last report.
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

  std::vector<std::jthread> streams_;  // last, so that they end before the other members are destroyed
};

// Eight questions to the tiny model, half of them greedy, half with a seed at temperature 1.
std::vector<Question> eight_questions(int tokens);
// Six questions to the tiny model, of 120 tokens each, with seeds 7 to 12.
std::vector<Question> six_questions(float temperature, float top_p);
// A greedy question to the tiny model whose answer has exactly that many tokens. The model repeats
// itself soon, so look-up drafting finds something.
Question long_question(int tokens);

}  // namespace slipstream::e2e
