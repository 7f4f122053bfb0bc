// The HTTP API: the paths that generate text (asked.h), OpenAI's GET /v1/models, vLLM's /tokenize,
// /detokenize, /version; /health, /ready, /metrics, and pages for people at / and /ui.
//
// Threads:
//   server's thread  handle() answers what is quick. It must not block, because this thread carries
//                    every stream.
//   text thread      parses and tokenises requests (Ports::later, go_on) and posts their Submits.
//   grammar thread   compiles the grammar of a request that has a new one (Ports::compile), in
//                    between: that may take a second, and no request without one waits for it.
//   loop's thread    deliver() and fail() turn tokens into text and write it.
// The threads share a table of live answers. It is locked only to look an answer up.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <unordered_map>
#include <variant>

#include "common/http/server.h"
#include "services/router/counters.h"
#include "services/router/http_api/answer.h"
#include "services/router/http_api/asked.h"
#include "services/router/http_api/door.h"
#include "services/router/http_api/error_counts.h"
#include "services/router/http_api/grammar_queue.h"
#include "services/router/http_api/key_use.h"
#include "services/router/http_api/prompts.h"
#include "services/router/http_api/served_model.h"
#include "services/router/request.h"

namespace slipstream {

class HttpApi {
 public:
  using ToRouter = std::variant<Submit, Abandon, SetDrained>;
  struct Ports {
    std::function<bool(ToRouter)> post;                // thread-safe; false: the inbox is full
    std::function<bool(std::function<void()>)> later;  // runs it on the text thread, in order; false: too many wait
    // The same for a request that was on that thread before: it has its place. False: it is closed.
    std::function<bool(std::function<void()>)> go_on;
    // Runs it on the grammar thread, where clients take turns; false: too many wait, of this one or
    // of all.
    std::function<bool(GrammarQueue::Turn)> compile;
    std::function<RouterCounters()> counters;  // thread-safe
    std::function<std::string()> metrics;      // the page /metrics; on the server's thread
    // Why the process does not get on, "" if it does, on the server's thread.
    std::function<std::string()> stuck;
    // Why a request may not pass, on the server's thread; null: every request may.
    std::function<std::optional<ApiError>(const http::Request&)> refusal = nullptr;
    // What a POST may do, and the pass that it holds until it is answered, on the server's thread;
    // null: no pass is needed, and every request may go first.
    std::function<ApiResult<Admitted>(const http::Request&)> admit = nullptr;
    std::function<GrammarQueue::Clock::time_point()> now = GrammarQueue::Clock::now;  // thread-safe
  };

  HttpApi(ServedModel model, Incarnation incarnation, Ports ports);

  void handle(http::Request request, http::Exchange exchange);
  // For errors that the server itself finds; path: empty if it was not read.
  static http::Response error_body(int status, std::string_view message, std::string_view path);
  void listens_at(std::string address);  // thread-safe; "http://127.0.0.1:8080", for the page

  // Of POSTs that are not yet posted to the router. Close it before the actor is given Closing.
  Door& door() { return door_; }
  ErrorCountsByCode errors() const { return errors_.by_code(); }  // thread-safe

  // On the loop's thread.
  void deliver(Delivery delivery);
  void still_here(RequestId request);
  void fail(const Failure& failure);

 private:
  // A POST that was let in, and what was read of one that generates text.
  struct Post {
    const http::Request request;
    http::Exchange exchange;
    const Admitted admitted;
    const Door::Pass in;  // null: the router had been told to stop
  };
  struct Read {
    const GenerationApi& api;
    Asked asked;
    std::vector<PromptTokens> prompts;
    GrammarCache::Kept grammar = nullptr;   // that its answer follows
    std::chrono::microseconds waited = {};  // for that
  };

  // Gives work of the POST to the text thread. An error is the answer.
  using TextWork = std::function<ApiResult<void>()>;
  void later(const std::shared_ptr<Post>& posted, TextWork work);
  void go_on(const std::shared_ptr<Post>& posted, TextWork work);
  std::function<void()> text_task(const std::shared_ptr<Post>& posted, TextWork work);
  void on_text_thread(http::Request request, http::Exchange exchange);
  // On the text thread.
  ApiResult<void> post(const std::shared_ptr<Post>& posted);
  ApiResult<void> generate(const GenerationApi& api, const std::shared_ptr<Post>& posted);
  ApiResult<void> wait_for_grammar(const std::shared_ptr<Post>& posted, const std::shared_ptr<Read>& read);
  ApiResult<void> begin(Post& posted, Read& read);
  void add_who(const http::Request& http, GenerationRequest& request);  // and its seed
  ApiResult<void> submit(const std::vector<Submit>& submits);
  ApiResult<http::Response> drain(const SetDrained& asked) const;
  TraceContext trace_of(const std::string& traceparent);
  ApiError cannot_follow(Read& read, const GrammarError& why);  // on the grammar thread, too

  ApiResult<http::Response> get(const http::Request& request) const;
  void refuse(const http::Request& request, http::Exchange& exchange, const ApiError& error);
  http::Response ready() const;
  http::Response health() const;
  int32_t context_max() const;  // tokens that a request may have now

  std::shared_ptr<Answer> find(RequestId id);
  void forget(RequestId id);
  void abandon(const std::vector<RequestId>& requests, Abandon::Why why);  // and forgets them

  // Constant after construction.
  const ServedModel model_;
  const ToolFormat tool_format_;
  const Incarnation incarnation_;
  const int64_t created_;  // Unix seconds
  const Ports ports_;

  ErrorCounts errors_;
  Door door_;

  std::optional<GrammarQueue> grammars_;  // none: nothing ends the model's answers

  // The text thread only.
  RequestId newest_ = 0;
  std::mt19937_64 seeds_{std::random_device{}()};

  mutable std::mutex mutex_;  // guards what follows
  std::string address_;
  std::unordered_map<RequestId, std::shared_ptr<Answer>> answers_;
};

}  // namespace slipstream
