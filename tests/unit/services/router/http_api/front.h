// The front over real sockets on loopback; the test stands in for the router: it takes Submits and
// hands back Deliveries.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <future>
#include <semaphore>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/http/client.h"
#include "common/runtime/task_thread.h"
#include "services/router/http_api/http_api.h"

namespace slipstream {

using nlohmann::json;
using testing::HasSubstr;
using namespace std::chrono_literals;

inline constexpr auto kPatience = 10s;
inline constexpr TokenId kEnd = 2;
inline constexpr std::string_view kPostHead =
    "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
inline const std::filesystem::path kModel = std::filesystem::path(SLIPSTREAM_SOURCE_FOLDER) / "tests/unit/common/text/data";

// What the front posts to the router.
class Inbox {
 public:
  bool push(HttpApi::ToRouter event) {
    std::lock_guard lock(mutex_);
    if (full_) return false;
    events_.push_back(std::move(event));
    arrived_.notify_one();
    return true;
  }
  template <class E>
  E take() {
    std::unique_lock lock(mutex_);
    if (!arrived_.wait_for(lock, kPatience, [this] { return !events_.empty(); })) {
      ADD_FAILURE() << "the front posted nothing";
      return {};
    }
    const auto event = std::move(events_.front());
    events_.pop_front();
    if (const auto* wanted = std::get_if<E>(&event)) return *wanted;
    ADD_FAILURE() << "the front posted something else";
    return {};
  }
  void fill() {
    std::lock_guard lock(mutex_);
    full_ = true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<HttpApi::ToRouter> events_;
  bool full_ = false;
};

struct Streamed {
  http::Reply reply;
  std::vector<std::string> events;
  json operator[](size_t i) const { return json::parse(events.at(i)); }
};

class HttpApiTest : public testing::Test {
 protected:
  static ServedModel model() {
    auto tokenizer = Tokenizer::load(kModel / "tokenizer.json");
    auto chat_template = ChatTemplate::load(kModel);
    return {.offer = {.names = {"demo", "alias"}},
            .tokenizer = *std::move(tokenizer),
            .chat_template = *std::move(chat_template),
            .vocabulary = 300,
            .eos_ids = {kEnd},
            .context_max = 512,
            .draft_nodes_max = 8};
  }
  static ServedModel with_template(std::string_view jinja) {
    ServedModel served = model();
    served.chat_template = *ChatTemplate::parse(jinja, "", "a test");
    return served;
  }

  std::future<http::Reply> post(std::string body, std::string path = "/v1/chat/completions") {
    return std::async(std::launch::async, [this, body = std::move(body), path = std::move(path)] {
      return http::Client("127.0.0.1", server.port(), kPatience).post(path, body).value();
    });
  }
  std::future<Streamed> stream(std::string body, std::string path = "/v1/chat/completions") {
    return std::async(std::launch::async, [this, body = std::move(body), path = std::move(path)] {
      Streamed streamed;
      streamed.reply = http::Client("127.0.0.1", server.port(), kPatience)
                           .post_stream(path, body,
                                        [&](std::string_view data) {
                                          streamed.events.emplace_back(data);
                                          return true;
                                        })
                           .value();
      return streamed;
    });
  }
  http::Reply get(std::string_view path) { return http::Client("127.0.0.1", server.port(), kPatience).get(path).value(); }

  static std::string ask(std::string_view fields = R"("max_tokens":8)") {
    return fmt::format(R"({{"messages":[{{"role":"user","content":"Hello"}}],{}}})", fields);
  }
  void deliver(RequestId id, std::string_view text, Finish finish = Finish::none) {
    Delivery delivery{.request = id,
                      .finish = finish,
                      .report = {.steps = 2, .received = 4, .accepted = 3, .rejected = 1, .cached_tokens = 32}};
    delivery.ids = tokenizer().encode(text, true).value();
    delivery.drafted.assign(delivery.ids.size(), 0);
    if (!delivery.drafted.empty()) delivery.drafted.front() = 1;
    delivery.depths.assign(delivery.ids.size(), 2);
    for (const bool drafted : {true, true, false, true, false}) delivery.histogram.add(drafted, 2);
    api.deliver(delivery);
  }
  const Tokenizer& tokenizer() {
    static const Tokenizer tokenizer = *Tokenizer::load(kModel / "tokenizer.json");
    return tokenizer;
  }

  // Keeps a thread until release(), at the latest until it dies.
  class Held {
   public:
    explicit Held(TaskThread& thread) {
      EXPECT_TRUE(thread.post([this, released = release_.get_future().share()] {
        held_.set_value();
        released.wait();
      }));
      held_.get_future().wait();
    }
    ~Held() { release(); }
    void release() {
      if (!std::exchange(let_go_, true)) release_.set_value();
    }

   private:
    std::promise<void> held_, release_;
    bool let_go_ = false;
  };
  void awaits_chat() { EXPECT_TRUE(chats.try_acquire_for(kPatience)) << "no chat reached the text thread's queue"; }

  explicit HttpApiTest(ServedModel served = model()) : model_(std::move(served)) {}
  ~HttpApiTest() override {  // they post to each other
    grammars.close();
    text.close();
  }

  Inbox inbox;
  std::optional<ApiError> refusal;  // of every request
  std::atomic<bool> may_go_first{true};
  std::string stuck;   // why the process does not get on
  std::string client;  // the address that all requests seem to come from; empty: their own
  std::atomic<GrammarQueue::Clock::duration> now{};
  std::atomic<uint64_t> verifiers{0};
  std::atomic<int32_t> context_max{0};
  std::shared_ptr<const std::vector<WorkerFacts>> workers = RouterCounters().workers;  // set before the first request
  std::counting_semaphore<> chats{0};                                                  // given to the text thread
  ServedModel model_;
  HttpApi api{
      model_,
      0xAB,
      {.post = [this](HttpApi::ToRouter event) { return inbox.push(std::move(event)); },
       .later =
           [this](TaskThread::Task chat) {
             const bool posted = text.post(std::move(chat));
             chats.release();
             return posted;
           },
       .go_on = [this](TaskThread::Task chat) { return text.post_unbounded(std::move(chat)); },
       .compile = [this](GrammarQueue::Turn turn) { return grammars.post(std::move(turn.run), turn.by, std::move(turn.over)); },
       .counters =
           [this] {
             RouterCounters counters;
             counters.verifiers = verifiers;
             counters.context_max = context_max;
             counters.workers = workers;
             return counters;
           },
       .metrics = [] { return std::string("slipstream_build_info 1\n"); },
       .stuck = [this] { return stuck; },
       .refusal = [this](const http::Request&) { return refusal; },
       .admit = [this](const http::Request&) { return Admitted{.may_go_first = may_go_first}; },
       .now = [this] { return GrammarQueue::Clock::time_point(now.load()); }}};
  TaskThread text{2}, grammars{{.waiting_max = 4, .of_one_max = 2}};
  http::Server server = *http::Server::listen(
      "127.0.0.1", 0,
      [this](http::Request request, http::Exchange exchange) {
        if (!client.empty()) request.client = client;
        api.handle(std::move(request), std::move(exchange));
      },
      HttpApi::error_body);
};

}  // namespace slipstream
