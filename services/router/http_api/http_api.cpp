#include "services/router/http_api/http_api.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/base/limits.h"
#include "common/text/chat_prompt.h"
#include "services/router/http_api/logits_fields.h"
#include "services/router/http_api/page.h"
#include "services/router/http_api/tenant.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kChatPath = "/v1/chat/completions";
constexpr std::string_view kModelsPath = "/v1/models";
constexpr std::string_view kReadyPath = "/ready";
constexpr std::string_view kVersion = "/v1";  // of the API: clients may leave it out
constexpr std::array<std::string_view, 5> kGetPaths{"/", "/health", kReadyPath, "/metrics", kModelsPath};
// Seeds that the server chooses stay exact in a client that reads numbers as doubles.
constexpr int kSampledSeedBits = 53;

int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

ApiError wrong_method(std::string_view path, std::string_view allowed) {
  return {.status = 405, .message = fmt::format("{} takes {} only.", path, allowed), .code = "method_not_allowed"};
}

// The path without a slash at its end, and with the /v1 that some clients leave out of their base
// URL, as other servers take it.
std::string usual_path(std::string path) {
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  for (const std::string_view known : {kChatPath, kModelsPath}) {
    const std::string_view without = known.substr(kVersion.size());
    if (path == without || (known == kModelsPath && path.starts_with(without) && path[without.size()] == '/')) {
      return std::string(kVersion) + path;
    }
  }
  return path;
}

// Whether a content type is JSON, with or without parameters.
bool is_json(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.ends_with(' ') || content_type.ends_with('\t')) content_type.remove_suffix(1);
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::ranges::equal(content_type, std::string_view("application/json"), same);
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

// The error for a request that the inbox had no room for.
ApiError not_taken(bool closing) {
  if (closing) return api_error(shutting_down());
  return {.status = 429,
          .message =
              fmt::format("{} requests are on their way into this router, its limit. Try again in a moment.", kInboxEventsMax),
          .code = "queue_full",
          .retry_after_s = kRetryFullSeconds};
}

}  // namespace

HttpApi::HttpApi(ServedModel model, Incarnation incarnation, Ports ports)
    : model_(std::move(model)), incarnation_(incarnation), created_(unix_seconds()), ports_(std::move(ports)) {}

void HttpApi::listens_at(std::string address) {
  std::lock_guard lock(mutex_);
  address_ = std::move(address);
}

http::Response HttpApi::error_body(int status, std::string_view message) {
  return error_response({.status = status,
                         .message = std::string(message),
                         .code = status == 413 ? "body_too_large" : "",
                         .retry_after_s = status == 503 ? kRetryFullSeconds : 0});
}

void HttpApi::handle(http::Request request, http::Exchange exchange) {
  request.path = usual_path(request.path);
  const bool known =
      std::ranges::find(kGetPaths, request.path) != kGetPaths.end() || request.path.starts_with(std::string(kModelsPath) + "/");
  const std::string_view allowed = request.path == kChatPath ? "POST" : known ? "GET" : "";
  if (allowed.empty()) {
    refuse(exchange,
           {.status = 404,
            .message = fmt::format("There is no {}: see {}, {} or the page at /.", request.path, kChatPath, kModelsPath),
            .code = "unknown_path"});
  } else if (request.method != allowed && !(request.method == "HEAD" && allowed == "GET")) {
    const ApiError error = wrong_method(request.path, allowed);
    errors_.add(error.code);
    auto response = error_response(error);
    response.headers.emplace_back("Allow", allowed);
    exchange.send(std::move(response));
  } else if (request.path == kChatPath && !is_json(request.content_type)) {
    refuse(exchange, not_json(request.content_type));
  } else if (request.path == kChatPath) {
    auto chats = [this, request = std::move(request), exchange] { chat(request, exchange); };
    if (!ports_.later(std::move(chats))) refuse(exchange, not_taken(ports_.counters().closing));
  } else if (request.path == kReadyPath) {
    exchange.send(ready());
  } else if (auto response = get(request.path)) {
    exchange.send(*std::move(response));
  } else {
    refuse(exchange, response.error());
  }
}

void HttpApi::refuse(http::Exchange& exchange, const ApiError& error) {
  errors_.add(error.code);
  exchange.annotate(error.code);
  exchange.send(error_response(error));
}

void HttpApi::chat(const http::Request& asked, http::Exchange exchange) {
  const auto request = parse_chat_request(asked.body, model_.offer);
  if (!request) return refuse(exchange, request.error());
  auto submit = submit_of(*request);
  if (!submit) return refuse(exchange, submit.error());

  const RequestId id = ++newest_;
  const int64_t seed = request->seed.value_or(static_cast<int64_t>(seeds_() >> (64 - kSampledSeedBits)));
  submit->request = id;
  submit->spec.seed = static_cast<uint64_t>(seed);
  submit->spec.tenant = model_.one_tenant ? kEveryone : tenant_of(asked.authorization);
  const auto prompt_tokens = static_cast<int32_t>(submit->prompt.size());
  CompletionHead head{.id = fmt::format("chatcmpl-{:016x}{:x}", incarnation_, id),
                      .created = unix_seconds(),
                      .model = model_.offer.name(),
                      .seed = seed,
                      .speculates = request->speculation.enabled,
                      .warnings = request->warnings};
  {
    auto answer = std::make_shared<Answer>(exchange, *request, std::move(head), prompt_tokens, model_.tokenizer);
    std::lock_guard lock(mutex_);
    answers_.emplace(id, std::move(answer));
  }
  if (!ports_.post(*std::move(submit))) {
    forget(id);
    return refuse(exchange, not_taken(ports_.counters().closing));
  }
  exchange.on_gone(
      [this, id] {  // set after the post, so that the Abandon follows the Submit; it runs even if the client went before
        forget(id);
        ports_.post(Abandon{id});  // if the inbox has no room, deliver() posts it again
      });
}

ApiResult<std::vector<TokenId>> HttpApi::tokenise(const ChatRequest& request) const {
  size_t bytes = 0;
  for (const ChatMessage& message : request.messages) bytes += message.content.size();
  const size_t least = model_.tokenizer.tokens_at_least(bytes);
  if (const int32_t most = context_max(); least > static_cast<size_t>(most)) {  // before tokenising takes time
    return std::unexpected(
        ApiError{.message = fmt::format("{} The messages are at least {} tokens. Shorten them.", context_words(most), least),
                 .param = "messages",
                 .code = "context_length_exceeded"});
  }
  auto prompt = chat_prompt(model_.tokenizer, model_.chat_template, request.messages, std::numeric_limits<size_t>::max());
  if (!prompt) {
    return std::unexpected(
        ApiError{.message = fmt::format("`messages` do not fit the model's chat template: {}", prompt.error().message),
                 .param = "messages",
                 .code = "invalid_value"});
  }
  if (prompt->empty()) {
    return std::unexpected(ApiError{
        .message = "`messages` give an empty prompt: write at least one word.", .param = "messages", .code = "invalid_value"});
  }
  return *std::move(prompt);
}

// The router checks the exact length of the prompt against the same bound.
int32_t HttpApi::context_max() const {
  const int32_t offered = ports_.counters().context_max;
  return offered > 0 ? offered : model_.context_max;
}

// The Submit without its id and seed.
ApiResult<Submit> HttpApi::submit_of(const ChatRequest& request) const {
  Submit submit{.spec = request.spec, .speculation = request.speculation};
  if (!request.ignore_eos) submit.spec.stop_ids = model_.eos_ids;
  TRY(submit.prompt, tokenise(request));
  TRY_VOID(fit_adjustments(submit.spec, request.bad_words, model_.tokenizer, model_.vocabulary));
  return submit;
}

ApiResult<http::Response> HttpApi::get(std::string_view path) const {
  if (path == "/health") return json_response(R"({"status":"ok"})");
  if (path == "/metrics") return text_response("text/plain; version=0.0.4; charset=utf-8", ports_.metrics());
  if (path == "/") {
    std::string address;
    {
      std::lock_guard lock(mutex_);
      address = address_;
    }
    const std::string self = fmt::format("{:016x}, pid {}", incarnation_, getpid());
    return text_response("text/plain; charset=utf-8", state_page(self, model_.offer.name(), address, ports_.counters()));
  }
  return models(path.substr(std::min(path.size(), kModelsPath.size() + 1)));
}

ApiResult<http::Response> HttpApi::models(std::string_view asked) const {
  const int32_t context = context_max();
  const auto model = [&](std::string_view name) {
    return Json{
        {"id", name}, {"object", "model"}, {"created", created_}, {"owned_by", "slipstream"}, {"max_model_len", context}};
  };
  const Offer& offer = model_.offer;
  if (asked.empty()) {
    Json list = Json::array();
    for (const std::string& name : offer.names) {
      if (name != kAnyModelName) list.push_back(model(name));
    }
    return json_response(Json{{"object", "list"}, {"data", std::move(list)}}.dump());
  }
  if (offer.takes(asked)) return json_response(model(asked).dump(-1, ' ', false, Json::error_handler_t::replace));
  return std::unexpected(ApiError{.status = 404,
                                  .message = fmt::format("The model `{}` is not served here; `{}` is.", asked, offer.name()),
                                  .param = "model",
                                  .code = "model_not_found"});
}

// A load balancer or a person asks, not a client, so the 503 is not counted as an error.
http::Response HttpApi::ready() const {
  const RouterCounters counters = ports_.counters();
  if (counters.closing) return error_response(api_error(shutting_down()));
  if (counters.verifiers > 0) {
    return json_response(Json{{"status", "ready"}, {"verifiers", counters.verifiers}, {"drafters", counters.drafters}}.dump());
  }
  const auto leaves = [](const WorkerFacts& worker) { return worker.role == Role::verifier && worker.leaving; };
  const auto leaver = std::ranges::find_if(*counters.workers, leaves);
  return error_response(
      {.status = 503,
       .message = leaver == counters.workers->end()
                      ? "No verifier is connected yet: start slipstream-verifier, or wait until it has loaded the model."
                      : fmt::format("No verifier takes requests: {:016x} leaves this router: {}.", leaver->incarnation,
                                    leaver->why_leaving),
       .code = "no_verifier",
       .retry_after_s = kRetryNoVerifierSeconds});
}

void HttpApi::deliver(const Delivery& delivery) {
  const auto answer = find(delivery.request);
  if (answer == nullptr) {  // the client has gone, and its Abandon found no room in the inbox
    if (delivery.finish == Finish::none) ports_.post(Abandon{delivery.request});
    return;
  }
  const auto next = answer->deliver(delivery, model_.draft_nodes_max);
  if (next == Answer::Next::more) return;
  forget(delivery.request);
  if (next == Answer::Next::abandon_stopped) ports_.post(Abandon{delivery.request, Abandon::Why::stop_string});
  if (next != Answer::Next::abandon_failed) return;
  errors_.add(kDetokenizeFailed);
  ports_.post(Abandon{delivery.request, Abandon::Why::failed});
}

void HttpApi::still_here(RequestId request) {
  if (const auto answer = find(request)) answer->still_here();
}

void HttpApi::fail(const Failure& failure) {
  if (const auto answer = find(failure.request)) {
    errors_.add(failure.code);
    answer->fail(failure);
  }
  forget(failure.request);
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
