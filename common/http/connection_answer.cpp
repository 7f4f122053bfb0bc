// The answering half of Connection: turns the calls of an Exchange into bytes.
#include <utility>

#include <boost/asio/post.hpp>

#include "common/http/connection.h"

namespace slipstream::http {

void Connection::send(uint64_t request, const Response& response) {
  if (!current(request, Answer::none)) return;
  access_->status = response.status;
  put_head(encode_answer(response, form_));
  complete();
}

void Connection::begin_stream(uint64_t request, const std::string& content_type, const Headers& headers) {
  if (!current(request, Answer::none)) return;
  if (!form_.chunked) form_.keep_alive = false;  // HTTP/1.0: the end of the connection ends the stream
  answer_ = Answer::streaming;
  access_->status = 200;
  put_head(encode_stream_head(content_type, headers, form_));
  outbox_.flush(shared_from_this());
}

void Connection::write(uint64_t request, const std::string& chunk) {
  unsent().fetch_sub(chunk.size(), std::memory_order_relaxed);  // added by Exchange::write; put() adds it again
  if (!current(request, Answer::streaming) || chunk.empty() || form_.head_only) return;
  put(form_.chunked ? encode_chunk(chunk) : chunk);
  sent_ahead_ = 0;
  outbox_.flush(shared_from_this());
}

void Connection::end(uint64_t request) {
  if (!current(request, Answer::streaming)) return;
  if (form_.chunked && !form_.head_only) put(kLastChunk);
  complete();
}

void Connection::put(std::string_view bytes) {
  access_->bytes += bytes.size();
  outbox_.put(bytes);
}

void Connection::put_head(std::string_view head) { put(head.substr(std::exchange(sent_ahead_, 0))); }

// A stream that is not in chunks (HTTP/1.0) has no byte to send ahead: its next piece does.
void Connection::probe() {
  if (answer_ == Answer::complete || sent_ahead_ == kProbesMax) return;
  const bool streams = answer_ == Answer::streaming;
  if (streams && (!form_.chunked || form_.head_only)) return;
  put(streams ? kLeadingZero : kStatusLine.substr(sent_ahead_, 1));
  ++sent_ahead_;
  outbox_.flush(shared_from_this());
  arm(kFirstProbePause * (1 << (sent_ahead_ - 1)));
}

void Connection::annotate(uint64_t request, const std::string& note) {
  if (current(request, Answer::none) || current(request, Answer::streaming)) access_->note = note;
}

void Connection::concerns(uint64_t request, const std::string& subject) {
  if (current(request, Answer::none) || current(request, Answer::streaming)) access_->subject = subject;
}

void Connection::log_access(Access::End end) {
  if (!access_) return;
  access_->took = std::chrono::steady_clock::now() - head_read_;
  access_->end = end;
  if (state_->access_log) state_->access_log(*access_);
  access_.reset();
}

void Connection::complete() {
  answer_ = Answer::complete;
  sent_ahead_ = 0;
  log_access(Access::End::answered);
  gone_ = nullptr;
  outbox_.flush(shared_from_this());
  if (!outbox_.idle()) return;  // on_outbox() will call next_request()
  // A stream whose end is no byte (HTTP/1.0, HEAD), and whose other bytes are all sent: on_outbox()
  // will not be called. next_request() is posted, because it may call the handler of the next
  // request, which must not run inside the call that ended this one.
  boost::asio::post(stream_.get_executor(), [self = shared_from_this(), request = request_] {
    if (self->current(request, Answer::complete)) self->next_request();
  });
}

void Connection::abort(uint64_t request) {
  if (current(request, Answer::none) || current(request, Answer::streaming)) close();
}

void Connection::on_gone(uint64_t request, std::function<void()> gone) {
  if (current(request, Answer::none) || current(request, Answer::streaming)) {
    gone_ = std::move(gone);
  } else if (request == gone_request_) {
    gone();  // the client left before on_gone() was called
  }
}

void Connection::cut_slow_reader(uint64_t request) {
  if (!current(request, Answer::streaming)) return;
  state_->slow_readers.fetch_add(1, std::memory_order_relaxed);
  client_went();
}

void Connection::forgotten(uint64_t request) {
  if (current(request, Answer::streaming)) return close();
  if (!current(request, Answer::none)) return;
  send(request, state_->error_body(500, "the request was dropped without an answer", access_->path));
}

}  // namespace slipstream::http
