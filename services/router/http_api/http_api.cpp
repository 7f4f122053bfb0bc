#include "services/router/http_api/http_api.h"

#include <algorithm>
#include <ctime>
#include <iterator>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/base/limits.h"
#include "common/base/sequence_name.h"
#include "services/router/http_api/anthropic_request.h"
#include "services/router/http_api/fit.h"
#include "services/router/http_api/generation_fields.h"
#include "services/router/http_api/ollama_models.h"
#include "services/router/http_api/paths.h"
#include "services/router/http_api/priority_fields.h"
#include "services/router/http_api/prompt_logprobs_fields.h"
#include "services/router/http_api/prompt_tokens.h"
#include "services/router/http_api/tenant.h"
#include "services/router/http_api/tokens_api.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

ApiError wrong_method(std::string_view path, std::string_view allowed) {
  return {.status = 405, .message = fmt::format("{} takes {} only.", path, allowed), .code = "method_not_allowed"};
}

// A browser lets a page of any origin post text and forms, but asks the server before it posts
// JSON. So no page can spend this machine's time behind its user's back.
ApiError not_json(std::string_view content_type) {
  return {.status = 415,
          .message = content_type.empty()
                         ? std::string("The request has no content type: send `content-type: application/json`.")
                         : fmt::format("The content type is \"{}\": send `content-type: application/json`.", content_type),
          .code = "unsupported_media_type"};
}

ApiError compressed(std::string_view encoding) {
  return {.status = 415,
          .message = fmt::format("The body has the content encoding \"{}\": send it as it is.", encoding),
          .code = "unsupported_media_type"};
}

// The codes of errors that the HTTP server finds, by status.
constexpr std::pair<int, std::string_view> kServerErrors[] = {{400, "malformed_request"}, {408, "request_timeout"},
                                                              {413, "body_too_large"},    {417, "expectation_failed"},
                                                              {431, "header_too_large"},  {503, "server_busy"}};

std::string_view server_error_code(int status) {
  const auto* known = std::ranges::find(kServerErrors, status, [](const auto& each) { return each.first; });
  return known == std::end(kServerErrors) ? "no_answer" : known->second;
}

}  // namespace

HttpApi::HttpApi(ServedModel model, Incarnation incarnation, Ports ports)
    : model_(std::move(model)),
      tool_format_(tool_format_of(model_.chat_template.source())),
      incarnation_(incarnation),
      created_(std::time(nullptr)),
      ports_(std::move(ports)) {
  if (model_.grammars) {
    grammars_.emplace(*model_.grammars, model_.grammar_wait_most, GrammarQueue::Ports{ports_.compile, ports_.now});
  }
}

void HttpApi::listens_at(std::string address) {
  std::lock_guard lock(mutex_);
  address_ = std::move(address);
}

http::Response HttpApi::error_body(int status, std::string_view message, std::string_view path) {
  return error_response({.status = status,
                         .message = std::string(message),
                         .code = std::string(server_error_code(status)),
                         .retry_after_s = status == 503 ? kRetryFullSeconds : 0},
                        error_shape_of(usual_path(std::string(path))));
}

void HttpApi::handle(http::Request request, http::Exchange exchange) {
  request.path = usual_path(request.path);
  if (ports_.refusal != nullptr) {
    if (const auto refusal = ports_.refusal(request)) return refuse(request, exchange, *refusal);
  }
  const bool offered = model_.offer.ollama || !is_ollamas(request.path);
  const std::string_view allowed = offered ? method_of(request.path) : std::string_view();
  const bool posts = allowed == "POST";
  if (allowed.empty()) {
    refuse(request, exchange, unknown_path(request.path, model_.offer.ollama));
  } else if (request.method != allowed && !(request.method == "HEAD" && allowed == "GET")) {
    const ApiError error = wrong_method(request.path, allowed);
    errors_.add(error.code);
    auto response = error_response(error, error_shape_of(request.path));
    response.headers.emplace_back("Allow", allowed);
    exchange.send(std::move(response));
  } else if (posts && !is_json(request.content_type)) {
    refuse(request, exchange, not_json(request.content_type));
  } else if (posts && !is_plain(request.content_encoding)) {
    refuse(request, exchange, compressed(request.content_encoding));
  } else if (posts) {
    on_text_thread(std::move(request), std::move(exchange));
  } else if (request.path == kReadyPath) {
    exchange.send(ready());
  } else if (auto response = get(request)) {
    exchange.send(*std::move(response));
  } else {
    refuse(request, exchange, response.error());
  }
}

void HttpApi::on_text_thread(http::Request request, http::Exchange exchange) {
  ApiResult<Admitted> admitted;
  if (ports_.admit != nullptr) admitted = ports_.admit(request);
  if (!admitted) return refuse(request, exchange, admitted.error());
  const auto posted = std::make_shared<Post>(std::move(request), std::move(exchange), *std::move(admitted), door_.enter());
  later(posted, [this, posted] { return post(posted); });
}

std::function<void()> HttpApi::text_task(const std::shared_ptr<Post>& posted, TextWork work) {
  return [this, posted, work = std::move(work)] {
    if (const auto done = work(); !done) refuse(posted->request, posted->exchange, done.error());
  };
}

void HttpApi::later(const std::shared_ptr<Post>& posted, TextWork work) {
  if (ports_.later(text_task(posted, std::move(work)))) return;
  refuse(posted->request, posted->exchange, not_taken(ports_.counters().closing));
}

void HttpApi::go_on(const std::shared_ptr<Post>& posted, TextWork work) {
  if (ports_.go_on(text_task(posted, std::move(work)))) return;
  refuse(posted->request, posted->exchange, api_error(shutting_down()));
}

void HttpApi::refuse(const http::Request& request, http::Exchange& exchange, const ApiError& error) {
  exchange.annotate(error.code);
  errors_.add(error.code);
  exchange.send(error_response(error, error_shape_of(request.path)));
}

ApiResult<void> HttpApi::post(const std::shared_ptr<Post>& posted) {
  const http::Request& request = posted->request;
  http::Exchange& exchange = posted->exchange;
  if (const GenerationApi* api = generation_api(request.path)) return generate(*api, posted);
  if (const auto asked = drain_of(request.path)) {
    TRY(http::Response done, drain(*asked));
    exchange.send(std::move(done));
    return {};
  }
  if (request.path == kCountTokensPath) {
    TRY(std::string counted, count_anthropic(request.body, model_, context_max()));
    exchange.send(json_response(std::move(counted)));
    return {};
  }
  if (request.path == kOllamaShowPath) {
    TRY(std::string shown, ollama_show(request.body, model_, context_max()));
    exchange.send(json_response(std::move(shown)));
    return {};
  }
  const TokensApi tokens{model_, context_max()};
  TRY(std::string json, request.path == kTokenizePath ? tokens.tokenize(request.body) : tokens.detokenize(request.body));
  exchange.send(json_response(std::move(json)));
  return {};
}

// 202: the actor takes the drafter from its requests a moment later; /workers shows it then.
ApiResult<http::Response> HttpApi::drain(const SetDrained& asked) const {
  const RouterCounters counters = ports_.counters();
  const std::string name = fmt::format("{:016x}", asked.drafter);
  const auto same = [&](const WorkerFacts& worker) {
    return worker.incarnation == asked.drafter && worker.role == Role::drafter;
  };
  if (std::ranges::none_of(*counters.workers, same)) {
    return std::unexpected(ApiError{.status = 404,
                                    .message = fmt::format("No drafter {} is here: {} lists who is.", name, kWorkersPath),
                                    .code = "unknown_drafter"});
  }
  if (!ports_.post(asked)) return std::unexpected(not_taken(counters.closing));
  auto response = json_response(Json{{"drafter", name}, {"drained", asked.drained}}.dump());
  response.status = 202;
  return response;
}

void HttpApi::abandon(const std::vector<RequestId>& requests, Abandon::Why why) {
  for (const RequestId id : requests) {
    forget(id);
    ports_.post(Abandon{id, why});
  }
}

// The router checks the exact length of the prompt against the same bound.
int32_t HttpApi::context_max() const {
  const int32_t offered = ports_.counters().context_max;
  return offered > 0 ? offered : model_.context_max;
}

void HttpApi::deliver(Delivery delivery) {
  const RequestId id = delivery.request;
  const bool over = delivery.finish != Finish::none;
  const auto answer = find(id);
  if (answer == nullptr) {  // the client has gone, and its Abandon overtook the Submit or found no room in the inbox
    if (!over) ports_.post(Abandon{id});
    return;
  }
  const auto next = answer->deliver(std::move(delivery));
  if (next == Answer::Next::abandon_failed) {
    errors_.add(kDetokenizeFailed);
    return abandon(answer->requests(), Abandon::Why::failed);
  }
  if (next != Answer::Next::more) forget(id);
  if (next == Answer::Next::abandon_stopped) ports_.post(Abandon{id, Abandon::Why::stop_string});
  if (const auto posted = submit(answer->followers_of(id)); !posted) {
    errors_.add(posted.error().code);
    answer->fail(posted.error());
    abandon(answer->requests(), Abandon::Why::failed);
  }
}

void HttpApi::still_here(RequestId request) {
  if (const auto answer = find(request)) return answer->still_here();
  ports_.post(Abandon{request});  // its Abandon overtook its Submit, or found no room in the inbox
}

// A choice that fails takes its answer with it.
void HttpApi::fail(const Failure& failure) {
  const auto answer = find(failure.request);
  if (answer == nullptr) return;
  errors_.add(failure.code);
  answer->fail(api_error(failure));
  std::vector<RequestId> others = answer->requests();
  std::erase(others, failure.request);
  forget(failure.request);
  abandon(others, Abandon::Why::failed);
}

std::shared_ptr<Answer> HttpApi::find(RequestId id) {
  std::lock_guard lock(mutex_);
  const auto at = answers_.find(id);
  return at == answers_.end() ? nullptr : at->second;
}

void HttpApi::forget(RequestId id) {
  std::shared_ptr<Answer> last;  // destroyed after the lock is released: its destructor may call back
  std::lock_guard lock(mutex_);
  if (const auto at = answers_.find(id); at != answers_.end()) {
    last = std::move(at->second);
    answers_.erase(at);
  }
}

}  // namespace slipstream
