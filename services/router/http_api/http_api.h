// The HTTP API in OpenAI's shape: POST /v1/chat/completions, GET /v1/models, /health, /ready,
// /metrics, and a page for people at /.
//
// Threads:
//   server's thread  handle() answers what is quick. It must not block, because this thread carries
//                    every stream.
//   text thread      parses and tokenises chats (Ports::later) and posts a Submit for each.
//   loop's thread    deliver() and fail() turn tokens into text and write it.
// The threads share a table of live answers. It is locked only to look an answer up.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <unordered_map>
#include <variant>

#include "common/http/server.h"
#include "common/text/chat_template.h"
#include "common/text/tokenizer.h"
#include "services/router/counters.h"
#include "services/router/http_api/answer.h"
#include "services/router/http_api/error_counts.h"
#include "services/router/http_api/offer.h"
#include "services/router/request.h"

namespace slipstream {

struct ServedModel {
  Offer offer;
  Tokenizer tokenizer;
  ChatTemplate chat_template;
  int32_t vocabulary = 0;        // columns of a row of logits
  std::vector<TokenId> eos_ids;  // end an answer, unless ignore_eos
  int32_t context_max = 0;       // tokens, of the model; its verifiers may offer less
  uint16_t draft_nodes_max = 0;  // of the tuning, for reports
  bool one_tenant = false;       // all clients are one; else each API key is a tenant
};

class HttpApi {
 public:
  using ToRouter = std::variant<Submit, Abandon>;
  struct Ports {
    std::function<bool(ToRouter)> post;                // thread-safe; false: the inbox is full
    std::function<bool(std::function<void()>)> later;  // runs it on the text thread, in order; false: too many wait
    std::function<RouterCounters()> counters;          // thread-safe
    std::function<std::string()> metrics;              // the page /metrics; on the server's thread
  };

  HttpApi(ServedModel model, Incarnation incarnation, Ports ports);

  void handle(http::Request request, http::Exchange exchange);
  static http::Response error_body(int status, std::string_view message);  // for errors that the server itself finds
  void listens_at(std::string address);                                    // thread-safe; "127.0.0.1:8080", for the page

  ErrorCountsByCode errors() const { return errors_.by_code(); }  // thread-safe

  // On the loop's thread.
  void deliver(const Delivery& delivery);
  void still_here(RequestId request);
  void fail(const Failure& failure);

 private:
  void chat(const http::Request& request, http::Exchange exchange);
  ApiResult<std::vector<TokenId>> tokenise(const ChatRequest& request) const;
  ApiResult<Submit> submit_of(const ChatRequest& request) const;
  ApiResult<http::Response> get(std::string_view path) const;
  ApiResult<http::Response> models(std::string_view name) const;  // name: "" lists all
  void refuse(http::Exchange& exchange, const ApiError& error);
  http::Response ready() const;
  int32_t context_max() const;  // tokens that a request may have now

  std::shared_ptr<Answer> find(RequestId id);
  void forget(RequestId id);

  // Constant after construction.
  const ServedModel model_;
  const Incarnation incarnation_;
  const int64_t created_;  // Unix seconds
  const Ports ports_;

  ErrorCounts errors_;

  // The text thread only.
  RequestId newest_ = 0;
  std::mt19937_64 seeds_{std::random_device{}()};

  mutable std::mutex mutex_;  // guards what follows
  std::string address_;
  std::unordered_map<RequestId, std::shared_ptr<Answer>> answers_;
};

}  // namespace slipstream
