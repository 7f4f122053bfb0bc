#include "tests/e2e/support/load.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace slipstream::e2e {
namespace {

constexpr std::chrono::milliseconds kAskAgain{20};  // after an error: the server may be restarting

// Whether a load balancer would ask another server: this one is not there, or refuses new requests.
bool turned_away(const std::string& error) {
  for (const char* reason : {"nobody listens", "shutting down", "requests wait already"}) {
    if (error.find(reason) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::vector<std::string> learn_answers(Cluster& cluster, const std::vector<Question>& questions) {
  std::vector<std::string> answers;
  for (const Question& question : questions) {
    std::string text;
    cluster.ask(question, [&](const Piece& piece) { text += piece.text; });
    answers.push_back(std::move(text));
  }
  return answers;
}

Load::Load(Cluster& cluster, std::vector<Question> questions, const std::vector<std::string>& routers)
    : Load(cluster, questions, routers, learn_answers(cluster, questions)) {}

Load::Load(Cluster& cluster, std::vector<Question> questions, const std::vector<std::string>& routers,
           std::vector<std::string> expected)
    : model_(cluster.model_name()), questions_(std::move(questions)), expected_(std::move(expected)) {
  for (const std::string& router : routers) ports_.push_back(cluster.http_port(router));
  for (size_t i = 0; i < questions_.size(); ++i) {
    streams_.emplace_back([this, i](const std::stop_token& stop) { ask_again_and_again(stop, i); });
  }
}

Load::~Load() {
  for (std::jthread& stream : streams_) stream.request_stop();
}

LoadReport Load::report() {
  std::lock_guard lock(mutex_);
  return std::exchange(report_, {});
}

void Load::ask_again_and_again(const std::stop_token& stop, size_t stream) {
  for (size_t at = stream; !stop.stop_requested(); ++at) {
    if (!ask_once(ports_[at % ports_.size()], stop, stream)) std::this_thread::sleep_for(kAskAgain);
  }
}

bool Load::ask_once(uint16_t port, const std::stop_token& stop, size_t stream) {
  using Clock = std::chrono::steady_clock;
  std::string text;
  double longest = 0;
  auto newest = Clock::now();
  http::Client client("127.0.0.1", port, command::kAnswerTimeout);
  const auto answer = command::ask(client, model_, questions_[stream], [&](const Piece& piece) {
    text += piece.text;
    longest = std::max(longest, std::chrono::duration<double>(Clock::now() - newest).count());
    newest = Clock::now();
    return !stop.stop_requested();
  });
  if (stop.stop_requested()) return true;
  std::lock_guard lock(mutex_);
  const std::string& expected = expected_[stream];
  report_.longest_pause_s = std::max(report_.longest_pause_s, longest);
  if (answer ? text != expected : !expected.starts_with(text)) {
    report_.wrong.push_back(fmt::format("stream {}: \"{}\", not \"{}\"", stream, text, expected));
  } else if (answer) {
    ++report_.answers;
    ++answers_;
  } else if (ports_.size() > 1 && turned_away(answer.error().message)) {
    ++report_.turned_away;
  } else {
    ++report_.cut;
    const std::string& error = answer.error().message;
    if (std::ranges::find(report_.errors, error) == report_.errors.end()) report_.errors.push_back(error);
  }
  return answer.has_value();
}

std::vector<Question> eight_questions(int tokens) {
  std::vector<Question> questions;
  for (int i = 0; i < 8; ++i) {
    Question question;
    question.text = std::string("abcabcabc") + static_cast<char>('a' + i);
    question.tokens_max = tokens;
    if (i % 2 == 1) {
      question.temperature = 1.0F;
      question.seed = 100 + i;
    }
    questions.push_back(question);
  }
  return questions;
}

std::vector<Question> six_questions(float temperature, float top_p) {
  std::vector<Question> list;
  for (const char* words : {"hello", "tell me more", "abcabcabc", "what is it?", "one two three", "x"}) {
    Question question;
    question.text = words;
    question.tokens_max = 120;
    question.temperature = temperature;
    question.top_p = top_p;
    question.seed = 7 + list.size();
    list.push_back(question);
  }
  return list;
}

Question long_question(int tokens) {
  Question question;
  question.text = "abcabcabcabc";
  question.tokens_max = tokens;
  question.more = kNoEnd;
  return question;
}

}  // namespace slipstream::e2e
