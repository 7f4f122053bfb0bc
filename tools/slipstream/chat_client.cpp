#include "tools/slipstream/chat_client.h"

#include <simdjson.h>

#include <chrono>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/base/endpoint.h"
#include "tools/slipstream/terminal.h"

namespace slipstream::command {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kStatusOk = 200, kStatusUnauthorized = 401;
constexpr std::string_view kKeyAdvice = "give a key with --api-key, or in the variable SLIPSTREAM_API_KEY";

double seconds(Clock::duration span) { return std::chrono::duration<double>(span).count(); }

// Converts 0.7F to 0.7, as the user typed it, instead of 0.699999988079071.
double shortest(float value) { return std::stod(fmt::format("{}", value)); }

nlohmann::json messages_json(const Question& question) {
  nlohmann::json messages = nlohmann::json::array();
  const auto add = [&](std::string_view role, std::string_view content) {
    messages.push_back({{"role", role}, {"content", content}});
  };
  if (!question.system.empty()) add("system", question.system);
  for (const Message& message : question.history) add(message.role, message.content);
  add("user", question.text);
  return messages;
}

// Writes the request. Fields that the user added come last, so that they replace ours of the same
// name.
std::string request_json(const std::string& model, const Question& question) {
  nlohmann::json request{
      {"model", model},
      {"messages", messages_json(question)},
      {"temperature", shortest(question.temperature)},
      {"top_p", shortest(question.top_p)},
      {"stream", true},
      {"stream_options", {{"include_usage", true}}},
  };
  if (question.tokens_max > 0) request["max_tokens"] = question.tokens_max;
  if (question.seed) request["seed"] = *question.seed;
  if (question.logprobs) request["logprobs"] = true;
  if (!question.standard) {
    request["slipstream"] = {{"tokens", true}};
    request["speculation"] = {{"enabled", question.speculate}};
    if (!question.rule.empty()) request["speculation"]["rule"] = question.rule;
    if (!question.tuning.empty()) request["speculation"].update(nlohmann::json::parse(question.tuning));
  }
  if (!question.more.empty()) request.update(nlohmann::json::parse(question.more));
  return request.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// Reads the events of one stream into an Answer.
class Reader {
 public:
  Reader(Answer& answer, const OnPiece& piece) : answer_(answer), piece_(piece) {}

  bool event(std::string_view data) {
    if (data == "[DONE]") {
      done_ = true;
      return true;  // keep reading to the end of the stream, so that the connection can be reused
    }
    const simdjson::padded_string padded(data);
    simdjson::dom::element root;
    if (parser_.parse(padded).get(root) != simdjson::SUCCESS) {
      error_ = "the server sent an event that is no JSON";
      return false;
    }
    std::string_view text;
    if (root["error"]["message"].get(text) == simdjson::SUCCESS) {
      error_ = text;
      if (root["error"]["code"].get(text) == simdjson::SUCCESS) code_ = text;
      return false;
    }
    tokens(root);
    usage(root);
    return !stopped_;
  }

  // nullopt: the answer is whole.
  std::optional<AskFailure> failure() const {
    if (!error_.empty()) return AskFailure{.message = error_, .status = kStatusOk, .code = code_};
    if (stopped_) return AskFailure{.message = "the answer was stopped on its way", .status = kStatusOk, .stopped = true};
    if (done_) return std::nullopt;
    return AskFailure{
        .message =
            "the stream ended before the answer did; the server's logs say why (`slipstream serve` names their folder "
            "first)",
        .status = kStatusOk};
  }

 private:
  void tokens(simdjson::dom::element root) {
    const size_t before = answer_.ids.size();
    simdjson::dom::array list;
    if (root["slipstream"]["token_ids"].get(list) == simdjson::SUCCESS) {
      for (int64_t id : list) answer_.ids.push_back(static_cast<int32_t>(id));
    }
    if (root["slipstream"]["drafted"].get(list) == simdjson::SUCCESS) {
      for (int64_t flag : list) answer_.drafted.push_back(static_cast<uint8_t>(flag != 0));
    }
    if (root["slipstream"]["depths"].get(list) == simdjson::SUCCESS) {
      for (int64_t depth : list) answer_.depths.push_back(static_cast<uint8_t>(depth));
    }
    double spent = 0;
    // The router sends the total after each delivery. Every token of this delivery therefore gets
    // the total after all of them, which is an upper bound for each.
    if (root["slipstream"]["bias_spent"].get(spent) == simdjson::SUCCESS) answer_.spent_until.resize(answer_.ids.size(), spent);
    const int fresh = static_cast<int>(answer_.ids.size() - before);
    if (fresh > 0) clock(fresh);
    pieces(root, before);
    logprobs(root);
    std::string_view text;
    if (root["choices"].at(0)["finish_reason"].get(text) == simdjson::SUCCESS) answer_.finish = text;
  }

  // Shows the text of one event. `first` is the index of the first token in it. Text of `content`
  // beyond the pieces was held back (a possible stop string, or half a character) and released by
  // the end of the answer.
  void pieces(simdjson::dom::element root, size_t first) {
    simdjson::dom::array list;
    size_t shown = 0;
    if (root["slipstream"]["pieces"].get(list) == simdjson::SUCCESS) {
      for (std::string_view piece : list) {
        answer_.pieces.emplace_back(piece);
        if (!piece.empty()) tell({std::string(piece), first < answer_.drafted.size() && answer_.drafted[first] != 0});
        shown += piece.size();
        ++first;
      }
    }
    std::string_view content;
    if (root["choices"].at(0)["delta"]["content"].get(content) != simdjson::SUCCESS) return;
    answer_.text += content;
    if (content.size() > shown) tell({std::string(content.substr(shown)), false});
  }

  void logprobs(simdjson::dom::element root) {
    simdjson::dom::array list;
    if (root["choices"].at(0)["logprobs"]["content"].get(list) != simdjson::SUCCESS) return;
    for (simdjson::dom::element entry : list) {
      std::string_view token;
      if (entry["token"].get(token) == simdjson::SUCCESS) answer_.logprob_tokens.emplace_back(token);
    }
  }

  void tell(const Piece& piece) { stopped_ = stopped_ || !piece_(piece); }

  // The first delivery counts as prefill time. The decode time runs from there to the latest
  // delivery, and covers the tokens of all later ones.
  void clock(int fresh) {
    const auto now = Clock::now();
    if (static_cast<int>(answer_.ids.size()) == fresh) {
      answer_.first_token_s = seconds(now - sent_);
      first_ = now;
    } else {
      answer_.decoded += fresh;
      answer_.decode_s = seconds(now - first_);
    }
  }

  void usage(simdjson::dom::element root) {
    double length = 0;
    if (root["metrics"]["speculative_decoding"]["mean_acceptance_length"].get(length) == simdjson::SUCCESS) {
      answer_.acceptance_length = length;
    }
    int64_t nodes = 0;
    if (root["metrics"]["speculative_decoding"]["num_draft_tokens"].get(nodes) == simdjson::SUCCESS)
      answer_.draft_nodes = nodes;
    if (root["metrics"]["speculative_decoding"]["num_accepted_draft_tokens"].get(nodes) == simdjson::SUCCESS)
      answer_.accepted_nodes = nodes;
    speculation(root["slipstream"]["speculation"]);
  }

  void speculation(simdjson::simdjson_result<simdjson::dom::element> told) {
    std::string_view text;
    if (told["rule"].get(text) == simdjson::SUCCESS) answer_.rule = text;
    if (told["reason"].get(text) == simdjson::SUCCESS) answer_.why_rule = text;
    double spent = 0;
    if (told["bias_spent"].get(spent) == simdjson::SUCCESS) answer_.bias_spent = spent;
    int64_t near_ties = 0;
    bool replayed = false;
    if (told["near_ties"].get(near_ties) == simdjson::SUCCESS) answer_.may_differ = near_ties > 0;
    if (told["may_differ"].get(replayed) == simdjson::SUCCESS && replayed) answer_.may_differ = true;
  }

  Answer& answer_;
  const OnPiece& piece_;
  simdjson::dom::parser parser_;
  Clock::time_point sent_ = Clock::now(), first_;
  std::string error_, code_;
  bool done_ = false;
  bool stopped_ = false;
};

}  // namespace

Result<ServerUrl> ServerUrl::parse(std::string_view text) {
  constexpr std::string_view kHttp = "http://", kHttps = "https://", kApi = "/v1";
  std::string_view rest = text;
  const bool https = rest.starts_with(kHttps);
  if (https || rest.starts_with(kHttp)) rest.remove_prefix((https ? kHttps : kHttp).size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.ends_with(kApi)) rest.remove_suffix(kApi.size());
  const size_t colon = rest.rfind(':'), bracket = rest.rfind(']');
  const bool has_port = colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
  const auto endpoint = parse_endpoint(std::string(rest) + (has_port ? "" : https ? ":443" : ":80"), Use::connect);
  if (!endpoint || rest.find('/') != std::string_view::npos)
    return fail("\"{}\" is no server address; write it as http://127.0.0.1:8080", text);
  // A name is kept as written, such as "localhost", which parse_endpoint() would turn into an
  // address.
  const std::string_view name = rest.substr(0, has_port ? colon : rest.size());
  return ServerUrl{endpoint->ipv6() ? endpoint->host : std::string(name), endpoint->port, https};
}

std::string ServerUrl::text() const { return (https ? "https://" : "http://") + Endpoint{host, port}.address(); }

Result<http::Client> ServerUrl::client(const std::string& ca_file, std::chrono::milliseconds silence) const {
  http::Client client(host, port, silence);
  if (https) TRY_VOID(client.use_tls({.ca_file = ca_file}));
  return client;
}

namespace {

std::string error_code(std::string_view body) {
  simdjson::dom::parser parser;
  std::string_view code;
  const simdjson::padded_string padded(body);
  return parser.parse(padded)["error"]["code"].get(code) == simdjson::SUCCESS ? std::string(code) : "";
}

}  // namespace

std::string error_message(std::string_view body, int status) {
  simdjson::dom::parser parser;
  std::string_view said;
  const simdjson::padded_string padded(body);
  const bool says = parser.parse(padded)["error"]["message"].get(said) == simdjson::SUCCESS;
  std::string message = says ? harmless(said) : fmt::format("the server answered with status {}", status);
  if (status == kStatusUnauthorized) message += fmt::format(" ({})", kKeyAdvice);
  return message;
}

namespace {

Result<ServedModel> model_in(const http::Reply& reply) {
  if (reply.status != kStatusOk) return fail("{}", error_message(reply.body, reply.status));
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(reply.body);
  const auto model = parser.parse(padded)["data"].at(0);
  std::string_view name, owner;
  if (model["id"].get(name) != simdjson::SUCCESS) {
    return fail("the server names no model at /v1/models; is it a Slipstream router?");
  }
  if (model["owned_by"].get(owner) != simdjson::SUCCESS) owner = "";
  return ServedModel{std::string(name), std::string(owner)};
}

}  // namespace

Result<ServedModel> served_model(http::Client& client) {
  TRY(const http::Reply reply, client.get("/v1/models"));
  return model_in(reply);
}

Result<ServedModel> find_server(http::Client& client, const ServerUrl& url) {
  const auto reply = client.get("/v1/models");
  if (!reply) {
    return fail("no Slipstream server at {} ({}); start one with `slipstream serve`, or name another with --url", url.text(),
                reply.error().message);
  }
  auto model = model_in(*reply);
  if (!model) return fail("{} does not serve: {}", url.text(), model.error().message);
  return model;
}

std::optional<AskFailure> ask_into(http::Client& client, const std::string& model, const Question& question,
                                   const OnPiece& piece, Answer& answer) {
  Reader reader(answer, piece);
  client.set_api_key(question.api_key);
  const auto reply = client.post_stream("/v1/chat/completions", request_json(model, question),
                                        [&](std::string_view data) { return reader.event(data); });
  if (!reply) return AskFailure{.message = reply.error().message};
  if (reply->status == kStatusOk) return reader.failure();
  return AskFailure{.message = error_message(reply->body, reply->status),
                    .status = reply->status,
                    .code = error_code(reply->body),
                    .retry_after = reply->retry_after};
}

Result<Answer> ask(http::Client& client, const std::string& model, const Question& question, const OnPiece& piece) {
  Answer answer;
  if (const auto failure = ask_into(client, model, question, piece, answer)) return fail("{}", failure->message);
  return answer;
}

}  // namespace slipstream::command
