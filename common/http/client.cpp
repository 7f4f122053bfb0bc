#include "common/http/client.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "common/base/endpoint.h"
#include "common/http/event_stream.h"

namespace slipstream::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using boost::system::error_code;

constexpr size_t kReplyBytesMax = 64 * 1024 * 1024;  // of a whole body, or of one event

using Parser = beast::http::response_parser<beast::http::string_body>;
using Message = beast::http::request<beast::http::string_body>;

}  // namespace

struct Client::Impl {
  Impl(std::string to_host, uint16_t to_port, std::chrono::milliseconds wait)
      : host(std::move(to_host)), port(to_port), timeout(wait) {}

  // Runs one operation of the stream to its end; `start` gets the completion handler. The
  // operations are asynchronous, on a loop of the client's own, because Beast has timeouts only for
  // those.
  template <class Start>
  error_code wait(const Start& start) {
    error_code result;
    // After this look, cancel() finds the operation begun: its handler runs within loop.run().
    if (cancelled) return asio::error::operation_aborted;
    const auto ends = std::chrono::steady_clock::now() + timeout;
    stream.expires_at(answer_ends ? std::min(ends, *answer_ends) : ends);
    start([&result](error_code error, auto&&...) { result = error; });
    loop.restart();
    loop.run();
    return result;
  }

  // The same for an operation of the stream or of the TLS on it: start(stream, handler).
  template <class Start>
  error_code wait_for_bytes(const Start& start) {
    return wait([&](auto done) { secure ? start(*secure, std::move(done)) : start(stream, std::move(done)); });
  }

  void close() {
    connected = false;
    secure.reset();
    stream.close();
  }

  error_code connect() {
    close();
    buffer.clear();
    error_code error;
    asio::ip::tcp::resolver resolver(loop);
    const auto found = resolver.resolve(host, std::to_string(port), error);
    if (error) return error;
    error = wait([&](auto done) { stream.async_connect(found, std::move(done)); });
    if (!error) stream.socket().set_option(asio::ip::tcp::no_delay(true), error);
    if (!error && tls) error = shake_hands();
    connected = !error;
    return error;
  }

  error_code shake_hands() {
    secure.emplace(stream, *tls);
    error_code no_address;
    asio::ip::make_address(host, no_address);
    if (no_address) SSL_set_tlsext_host_name(secure->native_handle(), host.c_str());  // which of its certificates to show
    if (verifies) secure->set_verify_callback(asio::ssl::host_name_verification(host));
    return wait([&](auto done) { secure->async_handshake(asio::ssl::stream_base::client, std::move(done)); });
  }

  error_code begin(const Message& message, std::optional<Parser>& parser) {
    parser.emplace();
    parser->body_limit(boost::none);  // a stream may be of any length; kReplyBytesMax limits what is kept
    const error_code error =
        wait_for_bytes([&](auto& on, auto done) { beast::http::async_write(on, message, std::move(done)); });
    if (error) return error;
    return wait_for_bytes([&](auto& on, auto done) { beast::http::async_read_header(on, buffer, *parser, std::move(done)); });
  }

  // Sends the request and reads the head of the answer. The server may have closed a kept-alive
  // connection meanwhile; if it failed without a byte of an answer, the request is sent once more
  // over a new connection. After a timeout it is not, as the server may be working on it.
  error_code ask(const Message& message, std::optional<Parser>& parser) {
    if (connected) {
      const error_code error = begin(message, parser);
      const bool was_closed = error && error != beast::error::timeout && !parser->got_some();
      if (!was_closed) return error;
    }
    if (const error_code error = connect()) return error;
    return begin(message, parser);
  }

  Result<Reply> call(beast::http::verb method, std::string_view path, std::string_view json, const EventStream::Event* event);
  Result<Reply> read_body(Parser& parser, const EventStream::Event* event);
  std::unexpected<Error> broken(const error_code& error);

  std::string api_key;
  size_t reply_bytes_max = kReplyBytesMax;
  std::optional<std::chrono::milliseconds> answer_time;                // of a whole answer
  std::optional<std::chrono::steady_clock::time_point> answer_ends{};  // of the call that runs
  const std::string host;
  const uint16_t port;
  const std::chrono::milliseconds timeout;
  asio::io_context loop{1};
  std::optional<asio::ssl::context> tls;  // none: HTTP in clear
  bool verifies = true;
  beast::tcp_stream stream{loop};
  std::optional<asio::ssl::stream<beast::tcp_stream&>> secure;  // on `stream`, while it is connected
  beast::flat_buffer buffer;
  bool connected = false;
  std::atomic<bool> cancelled = false;
};

std::unexpected<Error> Client::Impl::broken(const error_code& error) {
  close();
  const std::string server = Endpoint{host, port}.address();
  if (cancelled) return fail("the call to {} was cancelled", server);
  if (error == beast::error::timeout) return fail("{} did not answer within {} ms", server, timeout.count());
  if (error == asio::error::connection_refused) return fail("nobody listens on {}; is the server running?", server);
  if (error == beast::http::error::end_of_stream || error == beast::http::error::partial_message) {
    return fail("{} closed the connection in the middle of an answer", server);
  }
  if (error.category() == asio::error::get_ssl_category()) {
    switch (ERR_GET_REASON(static_cast<unsigned long>(error.value()))) {
      case SSL_R_CERTIFICATE_VERIFY_FAILED:
        return fail(
            "{} shows a certificate that is not trusted here; name the file of its authority with --cacert FILE, or in the "
            "environment with SSL_CERT_FILE",
            server);
      case SSL_R_WRONG_VERSION_NUMBER:
        return fail("{} does not speak HTTPS; write http:// before its address", server);
      default:
        break;
    }
  }
  return fail("the connection to {} failed ({})", server, error.message());
}

Result<Reply> Client::Impl::call(beast::http::verb method, std::string_view path, std::string_view json,
                                 const EventStream::Event* event) {
  Message message(method, beast::string_view(path.data(), path.size()), 11);
  message.set(beast::http::field::host, Endpoint{host, port}.address());
  if (!api_key.empty()) message.set(beast::http::field::authorization, "Bearer " + api_key);
  if (method == beast::http::verb::post) {
    message.set(beast::http::field::content_type, "application/json");
    message.body() = json;
    message.prepare_payload();
  }
  if (answer_time) answer_ends = std::chrono::steady_clock::now() + *answer_time;
  std::optional<Parser> parser;
  if (const error_code error = ask(message, parser)) return broken(error);
  // The body of an error is JSON and no stream, even if a stream was asked for.
  const bool streamed = event != nullptr && parser->get().result_int() == 200;
  return read_body(*parser, streamed ? event : nullptr);
}

Result<Reply> Client::Impl::read_body(Parser& parser, const EventStream::Event* event) {
  Reply reply{.status = static_cast<int>(parser.get().result_int()),
              .body = {},
              .retry_after = std::string(parser.get()[beast::http::field::retry_after])};
  EventStream events;
  for (;;) {
    std::string& body = parser.get().body();
    if (event != nullptr) {
      const bool more = events.feed(std::exchange(body, {}), *event);
      // The rest of the stream is still to come, so this connection cannot carry another request.
      if (!more && !parser.is_done()) {
        close();
        return reply;
      }
    }
    if (parser.is_done()) break;
    if (body.size() + events.bytes_held() > reply_bytes_max) return broken(beast::http::error::body_limit);
    const error_code error =
        wait_for_bytes([&](auto& on, auto done) { beast::http::async_read_some(on, buffer, parser, std::move(done)); });
    if (error) return broken(error);
  }
  reply.body = std::move(parser.get().body());
  if (!parser.keep_alive()) close();
  return reply;
}

Client::Client(std::string host, uint16_t port, std::chrono::milliseconds timeout)
    : impl_(std::make_unique<Impl>(std::move(host), port, timeout)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<void> Client::use_tls(const ClientTls& tls) {
  impl_->close();
  asio::ssl::context& context = impl_->tls.emplace(asio::ssl::context::tls_client);
  impl_->verifies = !tls.any;
  if (tls.any) return {};
  error_code error;
  context.set_verify_mode(asio::ssl::verify_peer, error);
  if (tls.ca_file.empty()) {
    context.set_default_verify_paths(error);
  } else {
    context.load_verify_file(tls.ca_file, error);
  }
  if (error) return fail("{} holds no certificates of authorities that can be read ({})", tls.ca_file, error.message());
  return {};
}

void Client::limit_answers(size_t bytes, std::chrono::milliseconds time) {
  impl_->reply_bytes_max = bytes;
  impl_->answer_time = time;
}
void Client::set_api_key(std::string key) { impl_->api_key = std::move(key); }
Result<Reply> Client::get(std::string_view path) { return impl_->call(beast::http::verb::get, path, {}, nullptr); }

Result<Reply> Client::post(std::string_view path, std::string_view json) {
  return impl_->call(beast::http::verb::post, path, json, nullptr);
}

Result<Reply> Client::post_stream(std::string_view path, std::string_view json,
                                  const std::function<bool(std::string_view data)>& event) {
  return impl_->call(beast::http::verb::post, path, json, &event);
}

bool Client::cancelled() const { return impl_->cancelled; }

void Client::cancel() {
  impl_->cancelled = true;
  asio::post(impl_->loop, [impl = impl_.get()] { impl->stream.close(); });
}

}  // namespace slipstream::http
