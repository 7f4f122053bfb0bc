#include "services/router/http_api/http_api.h"

#include <algorithm>
#include <atomic>
#include <chrono>
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

// Seeds that the server chooses stay exact in a client that reads numbers as doubles.
constexpr int kSampledSeedBits = 53;

int64_t unix_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

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

// The error for a request that the inbox had no room for.
ApiError not_taken(bool closing) {
  if (closing) return api_error(shutting_down());
  return {.status = 429,
          .message =
              fmt::format("{} requests are on their way into this router, its limit. Try again in a moment.", kInboxEventsMax),
          .code = "queue_full",
          .retry_after_s = kRetryFullSeconds};
}

// The error for a request whose grammar cannot wait to be compiled.
ApiError grammars_wait(bool closing) {
  if (closing) return api_error(shutting_down());
  return {.status = 429,
          .message = fmt::format("{} grammars of this API key, or {} of all, wait to be compiled here, the limit. Try again in "
                                 "a moment.",
                                 kGrammarsOfOneWaitingMax, kGrammarsWaitingMax),
          .code = "grammars_full",
          .retry_after_s = kRetryFullSeconds};
}

}  // namespace

HttpApi::HttpApi(ServedModel model, Incarnation incarnation, Ports ports)
    : model_(std::move(model)),
      tool_format_(tool_format_of(model_.chat_template.source())),
      incarnation_(incarnation),
      created_(unix_seconds()),
      ports_(std::move(ports)),
      grammars_(model_.grammars ? std::optional<GrammarCache>(*model_.grammars) : std::nullopt) {}

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

void HttpApi::later(const std::shared_ptr<Post>& posted, std::function<ApiResult<void>()> work) {
  const auto text_work = [this, posted, work = std::move(work)] {
    if (const auto done = work(); !done) refuse(posted->request, posted->exchange, done.error());
  };
  if (!ports_.later(text_work)) refuse(posted->request, posted->exchange, not_taken(ports_.counters().closing));
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

ApiResult<void> HttpApi::generate(const GenerationApi& api, const std::shared_ptr<Post>& posted) {
  TRY(Asked asked, api.read(posted->request.body, model_));
  if (!asked.at_once.empty()) {
    posted->exchange.send(json_response(std::move(asked.at_once)));
    return {};
  }
  if (!posted->admitted.may_go_first) take_no_precedence(asked.generation());
  TRY_VOID(tell_ignored(asked.generation(), model_.offer));
  auto prompts = std::visit([this](const auto& one) { return prompts_of(one, model_, context_max()); }, asked.request);
  if (!prompts) return std::unexpected(asked.names.renamed(prompts.error()));
  TRY_VOID(bound_prompt_logprobs(asked.generation(), *prompts));
  TRY_VOID(bound_trees(asked.generation(), prompts->size()));
  const auto read = std::make_shared<Read>(api, std::move(asked), *std::move(prompts));
  if (needs_grammar(read->asked.generation())) return on_grammar_thread(posted, read);
  TRY_VOID(fit_to_model(*read));
  return begin(*posted, *read);
}

// The rest of the way to the router is the text thread's again. The grammar of a client that has
// left meanwhile is not compiled: others wait behind it.
ApiResult<void> HttpApi::on_grammar_thread(const std::shared_ptr<Post>& posted, const std::shared_ptr<Read>& read) {
  const auto left = std::make_shared<std::atomic<bool>>(false);
  posted->exchange.on_gone([left] { *left = true; });
  const auto grammar_work = [this, posted, read, left] {
    if (*left) return;
    if (door_.is_shut()) return refuse(posted->request, posted->exchange, api_error(shutting_down()));
    if (const auto fits = fit_to_model(*read); !fits) return refuse(posted->request, posted->exchange, fits.error());
    later(posted, [this, posted, read] { return begin(*posted, *read); });
  };
  if (ports_.compile(grammar_work, tenant_of(posted->request.authorization))) return {};
  return std::unexpected(grammars_wait(ports_.counters().closing));
}

ApiResult<void> HttpApi::fit_to_model(Read& read) {
  const FitTo to{model_, tool_format_, grammars_ ? &*grammars_ : nullptr};
  if (const auto fits = fit(read.asked, read.prompts, to); !fits)
    return std::unexpected(read.asked.names.renamed(fits.error()));
  return {};
}

void HttpApi::add_who(const http::Request& http, GenerationRequest& request) {
  if (!request.seed) request.seed = static_cast<int64_t>(seeds_() >> (64 - kSampledSeedBits));
  request.spec.seed = static_cast<uint64_t>(*request.seed);
  request.spec.trace = trace_of(http.traceparent);
  request.spec.tenant = model_.one_tenant ? kEveryone : tenant_of(http.authorization);
  if (request.spec.tenant == kNoTenant && !http.authorization.empty()) {
    request.warnings.emplace_back(
        "The Authorization header is not `Bearer KEY`, so this request counts as one without a key: nothing is remembered for "
        "it.");
  }
}

// The client's trace, if it records it; a new one for the share of the other requests.
TraceContext HttpApi::trace_of(const std::string& traceparent) {
  if (!model_.trace_share) return {};
  if (const auto parent = read_traceparent(traceparent)) return parent->sampled ? parent->trace : TraceContext{};
  if (!std::bernoulli_distribution(*model_.trace_share)(seeds_)) return {};
  return {.high = seeds_(), .low = seeds_() | 1};  // never 0
}

// Submits the choices of all prompts: of each prompt the first now, the others when it has begun.
ApiResult<void> HttpApi::begin(Post& posted, Read& read) {
  http::Exchange& exchange = posted.exchange;
  GenerationRequest& request = read.asked.generation();
  add_who(posted.request, request);
  int32_t prompt_tokens = 0;
  for (const PromptTokens& prompt : read.prompts) prompt_tokens += static_cast<int32_t>(prompt.tokens.size());
  const std::string stem = sequence_name({incarnation_, newest_ + 1});
  exchange.concerns(stem);
  AnswerHead head{.id = std::string(read.api.id_prefix) + stem,
                  .stem = stem,
                  .created = unix_seconds(),
                  .model = model_.offer.name(),
                  .seed = *request.seed,
                  .speculates = request.speculation.enabled,
                  .draft_nodes_max = model_.draft_nodes_max,
                  .service_tier = request.service_tier,
                  .warnings = request.warnings};
  Answer::Voice voice{
      .id = head.id, .format = read.asked.format(head), .names = std::move(read.asked.names), .pass = posted.admitted.pass};
  const auto answer = std::make_shared<Answer>(exchange, request, std::move(voice), prompt_tokens);
  const auto* chat = std::get_if<ChatRequest>(&read.asked.request);
  const std::string longest = chat != nullptr ? longest_result(chat->messages) : "";
  std::vector<Submit> first_ones;
  for (const PromptTokens& prompt : read.prompts) {
    std::vector<Submit> choices;
    for (int choice = 0; choice < request.choices; ++choice) {
      choices.push_back({.request = ++newest_,
                         .prompt = prompt.tokens,
                         .spec = request.spec,
                         .speculation = request.speculation,
                         .prompt_field = chat != nullptr ? "messages" : "prompt",
                         .longest_result = longest,
                         .priority = request.priority,
                         .answer_begun = choice > 0,
                         .came_in_time = posted.in != nullptr});
      choices.back().spec.choice = static_cast<uint32_t>(choice);
    }
    first_ones.push_back(choices.front());
    answer->add(std::move(choices), request, model_.tokenizer, prompt.echo);
  }
  {
    std::lock_guard lock(mutex_);
    for (const RequestId id : answer->requests()) answers_.emplace(id, answer);
  }
  const std::vector<RequestId> all = answer->requests();  // from here on the answer is the loop's
  if (auto posted = submit(first_ones); !posted) {
    abandon(all, Abandon::Why::failed);
    return posted;
  }
  // Set after the Submits are posted, so that the Abandons follow them; it runs even if the client
  // went before. If the inbox has no room for an Abandon, deliver() posts it again.
  exchange.on_gone([this, all] { abandon(all, Abandon::Why::client_went); });
  return {};
}

ApiResult<void> HttpApi::submit(const std::vector<Submit>& submits) {
  for (const Submit& one : submits) {
    if (!ports_.post(one)) return std::unexpected(not_taken(ports_.counters().closing));
  }
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
