// Requests that generate text, on their way to the router: read, given their grammar, submitted.
#include <chrono>
#include <ctime>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "common/base/sequence_name.h"
#include "services/router/http_api/api_error.h"
#include "services/router/http_api/fit.h"
#include "services/router/http_api/generation_fields.h"
#include "services/router/http_api/http_api.h"
#include "services/router/http_api/priority_fields.h"
#include "services/router/http_api/prompt_logprobs_fields.h"
#include "services/router/http_api/prompt_tokens.h"
#include "services/router/http_api/tenant.h"

namespace slipstream {
namespace {

// Seeds that the server chooses stay exact in a client that reads numbers as doubles.
constexpr int kSampledSeedBits = 53;

// Clients are told apart by API key, those without one by address.
uint64_t client_of(const http::Request& request) {
  const TenantId tenant = tenant_of(request.authorization);
  return tenant != kNoTenant ? tenant : std::hash<std::string>()(request.client);
}

}  // namespace

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
  if (auto chosen = choose_grammar(read->asked, model_, tool_format_); !chosen) {
    return std::unexpected(read->asked.names.renamed(std::move(chosen.error())));
  }
  GenerationRequest& request = read->asked.generation();
  if (request.spec.grammar.empty()) return begin(*posted, *read);
  GrammarCache& grammars = grammars_->grammars();
  const auto known = followed(request, [&](const GrammarText& text) { return grammars.find(text); });
  if (!known || (!*known && request.must_call)) return wait_for_grammar(posted, read);  // blaming a tool takes time, too
  if (!*known) return std::unexpected(cannot_follow(*read, known->error()));
  read->grammar = **known;
  return begin(*posted, *read);
}

// The rest of the way to the router is the text thread's again.
ApiResult<void> HttpApi::wait_for_grammar(const std::shared_ptr<Post>& posted, const std::shared_ptr<Read>& read) {
  const auto compile = [this, posted, read](GrammarQueue::Clock::duration waited) {
    if (door_.is_shut()) return refuse(posted->request, posted->exchange, api_error(shutting_down()));
    GrammarCache& grammars = grammars_->grammars();
    const auto compiled = followed(read->asked.generation(), [&](const GrammarText& text) { return grammars.compile(text); });
    if (!*compiled) return refuse(posted->request, posted->exchange, cannot_follow(*read, compiled->error()));
    read->grammar = **compiled;
    read->waited = std::chrono::duration_cast<std::chrono::microseconds>(waited);
    go_on(posted, [this, posted, read] { return begin(*posted, *read); });
  };
  const auto give_up = [this, posted](const ApiError& error) { refuse(posted->request, posted->exchange, error); };
  const auto over = grammars_->wait(
      {.by = client_of(posted->request), .text = read->asked.generation().spec.grammar, .go_on = compile, .give_up = give_up});
  if (!over) return std::unexpected(ports_.counters().closing ? api_error(shutting_down()) : over.error());
  posted->exchange.on_gone([this, over = *over] {
    *over = true;
    grammars_->forget_over();  // or the router, told to stop, would wait for it
  });
  return {};
}

ApiError HttpApi::cannot_follow(Read& read, const GrammarError& why) {
  return read.asked.names.renamed(slipstream::cannot_follow(read.asked, why, grammars_->grammars()));
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
  if (auto fits = fit(read.asked, read.prompts, model_, read.grammar.get()); !fits) {
    return std::unexpected(read.asked.names.renamed(std::move(fits.error())));
  }
  add_who(posted.request, request);
  int32_t prompt_tokens = 0;
  for (const PromptTokens& prompt : read.prompts) prompt_tokens += static_cast<int32_t>(prompt.tokens.size());
  const std::string stem = sequence_name({incarnation_, newest_ + 1});
  exchange.concerns(stem);
  AnswerHead head{.id = std::string(read.api.id_prefix) + stem,
                  .stem = stem,
                  .created = std::time(nullptr),
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
                         .waited = read.waited,
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

}  // namespace slipstream
