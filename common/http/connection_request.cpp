// The reading half of Connection: turns bytes into a request or a refusal.
#include <algorithm>
#include <ranges>
#include <utility>

#include <fmt/format.h>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>
#include <boost/beast/http/verb.hpp>

#include "common/base/ascii_case.h"
#include "common/http/connection.h"
#include "common/http/exchange_state.h"
#include "common/http/target.h"

namespace slipstream::http {
namespace {

using boost::beast::http::field;
using Reason = boost::beast::http::error;

std::string text(boost::beast::string_view view) { return {view.data(), view.size()}; }

std::string path_of(boost::beast::string_view target) {
  const auto read = read_target({target.data(), target.size()});
  return read ? read->path : text(target);
}

struct Expectations {
  bool to_continue = false, others = false;
};

// HTTP/1.0 has none (RFC 9110, 10.1.1).
template <class Message>
Expectations expectations(const Message& message) {
  Expectations found;
  if (message.version() < 11) return found;
  const auto [first, last] = message.equal_range(field::expect);
  for (auto header = first; header != last; ++header) {
    std::string words = text(header->value());
    std::erase_if(words, [](char c) { return c == ' ' || c == '\t'; });
    for (const auto word : std::views::split(words, ',')) {
      if (word.empty()) continue;
      (is_but_for_case(std::string_view(word), "100-continue") ? found.to_continue : found.others) = true;
    }
  }
  return found;
}

// Anthropic's clients send `x-api-key: KEY` for `Authorization: Bearer KEY`.
template <class Message>
std::string authorization(const Message& message) {
  const auto own = message[field::authorization], key = message["x-api-key"];
  return own.empty() && !key.empty() ? "Bearer " + text(key) : text(own);
}

// What is wrong with whom the request calls; empty: nothing. Servers that take different ones of
// two headers would see different requests (RFC 9112, 3.2). The scheme of HTTP needs a host (3.3),
// but HTTP/1.0 had no header for it.
template <class Message>
std::string_view wrong_host(const Message& message) {
  const size_t hosts = message.count(field::host);
  const bool old = message.version() < 11;
  if (hosts > 1) return "this is not an HTTP/1.1 request: it has several Host headers, and must have one";
  if (hosts == 0 && !old) return "this is not an HTTP/1.1 request: it has 0 Host headers, and must have one";
  const auto target = read_target({message.target().data(), message.target().size()});
  if (!target) return "this is not an HTTP/1.1 request: its target is a URL without a host, or one that names a user";
  const auto host = message[field::host];
  if (target->host || (old && host.empty()) || names_host({host.data(), host.size()})) return "";
  return "this is not an HTTP/1.1 request: its Host header names no host";
}

// A request begins with a method, which is a word of letters. Anything else (TLS, ZeroMQ, random
// bytes) is refused at its first byte, as the end of its header may never come.
bool begins_method(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

}  // namespace

// Feeds the parser until the request is complete. Bytes of the next request stay in buffer_.
void Connection::parse() {
  if (phase_ == Phase::idle) begin_request();
  if (phase_ != Phase::head && phase_ != Phase::body) return;
  while (buffer_.size() > 0 && !parser_->is_done()) {
    ErrorCode error;
    const size_t used = parser_->put(buffer_.data(), error);
    buffer_.consume(used);
    if (error && error != Reason::need_more) return refuse_parse(error);
    if (used == 0) break;
  }
  if (phase_ == Phase::head && parser_->is_header_done()) on_head();
  if (phase_ != Phase::body) return;  // on_head() refused it
  if (parser_->is_done()) return dispatch();
  if (!count_body()) return refuse(503, "too many bodies are on their way; try again in a moment");
  // The parser consumes body bytes at once, so a large rest is the head of a chunk that has no end.
  // The parser has no limit for it.
  if (buffer_.size() > state_->limits.header_bytes) refuse_parse(Reason::buffer_overflow);
}

void Connection::begin_request() {
  const auto* bytes = static_cast<const char*>(buffer_.cdata().data());
  const auto* first = std::find_if_not(bytes, bytes + buffer_.size(), [](char c) { return c == '\r' || c == '\n'; });
  buffer_.consume(static_cast<size_t>(first - bytes));  // empty lines before a request are ignored (RFC 9112, 2.2)
  if (buffer_.size() == 0) return;
  phase_ = Phase::head;
  ++request_;
  form_ = {};
  begin_access();
  parser_.emplace();
  parser_->eager(true);
  parser_->header_limit(static_cast<uint32_t>(state_->limits.header_bytes));
  parser_->body_limit(state_->limits.body_bytes);
  arm(read_deadline());
  if (!begins_method(*static_cast<const char*>(buffer_.cdata().data()))) refuse_parse(Reason::bad_method);
}

void Connection::begin_access() {
  access_.emplace(Access{.request_id = {}, .client = client_, .method = "-", .path = "-", .note = {}});
  head_read_ = std::chrono::steady_clock::now();
}

void Connection::on_head() {
  phase_ = Phase::body;
  has_request();  // from here on, new connections cannot push this one out (Listener::take)
  const auto& request = parser_->get();
  form_ = {.keep_alive = parser_->keep_alive() && state_->keeps_connections,
           .head_only = request.method() == boost::beast::http::verb::head,
           .chunked = request.version() >= 11,
           .request_id = state_->request_ids.id_of(text(request[kRequestIdHeader]))};
  if (const std::string origin = text(request[field::origin]); state_->cors.allows(origin)) form_.origin = origin;
  head_read_ = std::chrono::steady_clock::now();
  access_->request_id = form_.request_id;
  access_->method = text(request.method_string());
  access_->path = path_of(request.target());
  const auto encoding = request[field::transfer_encoding];
  // Without chunks Beast takes the length of such a body for 0, and would read its bytes as the
  // next request.
  if (!encoding.empty() && !boost::beast::iequals(encoding, "chunked")) {
    return refuse_head("this is not an HTTP/1.1 request that can be read: its transfer encoding must be chunked");
  }
  if (const std::string_view wrong = wrong_host(request); !wrong.empty()) return refuse_head(wrong);
  const Expectations expected = expectations(request);
  if (expected.others)
    return refuse_head("the request expects something else than 100-continue, which is all that is met", 417);
  if (parser_->is_done()) return;
  arm(read_deadline());
  if (expected.to_continue) {
    outbox_.put(kContinue);
    outbox_.flush(shared_from_this());
  }
}

bool Connection::count_body() {
  const size_t bytes = parser_->get().body().size();
  state_->receiving_bytes += bytes - std::exchange(body_counted_, bytes);
  return state_->receiving_bytes <= state_->limits.receiving_bytes;
}

void Connection::forget_body() { state_->receiving_bytes -= std::exchange(body_counted_, 0); }

void Connection::dispatch() {
  phase_ = Phase::answering;
  forget_body();
  answer_ = Answer::none;
  timer_.cancel();
  if (half_closed_) probe();
  state_->requests.fetch_add(1, std::memory_order_relaxed);
  auto message = parser_->release();
  const auto asked_of = message[field::access_control_request_method];
  if (message.method() == boost::beast::http::verb::options && !form_.origin.empty() && !asked_of.empty()) {
    return send(request_, {.status = 204, .headers = preflight_headers(text(message[field::access_control_request_headers]))});
  }
  const auto called = message.target();
  Target target = *read_target({called.data(), called.size()});  // on_head() has refused what cannot be read
  Request request{.id = form_.request_id,
                  .client = client_,
                  .method = text(message.method_string()),
                  .path = std::move(target.path),
                  .query = std::move(target.query),
                  .content_type = text(message[field::content_type]),
                  .content_encoding = text(message[field::content_encoding]),
                  .host = target.host ? *std::move(target.host) : text(message[field::host]),
                  .traceparent = text(message["traceparent"]),
                  .authorization = authorization(message),
                  .body = std::move(message.body())};
  state_->handler(std::move(request), Exchange(std::make_shared<Exchange::State>(shared_from_this(), request_)));
}

void Connection::refuse_parse(ErrorCode error) {
  state_->bad_requests.fetch_add(1, std::memory_order_relaxed);
  if (error == Reason::header_limit || error == Reason::buffer_overflow) {
    return refuse(431, fmt::format("the request's header is larger than {} bytes", state_->limits.header_bytes));
  }
  if (error == Reason::body_limit) {
    return refuse(413, fmt::format("the request's body is larger than {} bytes", state_->limits.body_bytes));
  }
  refuse(400, fmt::format("this is not an HTTP/1.1 request: {}", error.message()));
}

void Connection::refuse_head(std::string_view message, int status) {
  state_->bad_requests.fetch_add(1, std::memory_order_relaxed);
  refuse(status, message);
}

// The rest of the request is not read, so the connection cannot carry another one.
void Connection::refuse(int status, std::string_view message) {
  phase_ = Phase::answering;
  forget_body();
  has_request();
  if (!access_) begin_access();
  std::string path;
  if (parser_ && !parser_->get().target().empty()) {  // else the first line was not read
    path = access_->path = path_of(parser_->get().target());
    access_->method = text(parser_->get().method_string());
  }
  if (form_.request_id.empty()) {  // the head was not read to its end
    form_.request_id = state_->request_ids.id_of(parser_ ? text(parser_->get()[kRequestIdHeader]) : "");
    access_->request_id = form_.request_id;
  }
  if (parser_) parser_->get().body() = {};
  answer_ = Answer::none;
  form_.keep_alive = false;
  timer_.cancel();
  send(request_, state_->error_body(status, message, path));
}

}  // namespace slipstream::http
