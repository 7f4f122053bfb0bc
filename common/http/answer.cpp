#include "common/http/answer.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <boost/beast/http/status.hpp>

namespace slipstream::http {
namespace {

// Removes line breaks, so that a value cannot add a header of its own.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::erase_if(line, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
  return line;
}

std::string head(int status, std::string_view content_type, const Headers& headers, const AnswerForm& form) {
  const auto reason = boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(static_cast<unsigned>(status)));
  std::string text = fmt::format("{}{} {}\r\nContent-Type: {}\r\n", kStatusLine, status,
                                 std::string_view(reason.data(), reason.size()), one_line(content_type));
  if (!form.request_id.empty()) fmt::format_to(std::back_inserter(text), "{}: {}\r\n", kRequestIdHeader, form.request_id);
  const Headers page = form.origin.empty() ? Headers() : cors_headers(form.origin);
  for (const auto& [name, value] : page)
    fmt::format_to(std::back_inserter(text), "{}: {}\r\n", one_line(name), one_line(value));
  for (const auto& [name, value] : headers)
    fmt::format_to(std::back_inserter(text), "{}: {}\r\n", one_line(name), one_line(value));
  return text;
}

// 1xx, 204 and 304 have no body and, except 304, must not have a Content-Length (RFC 9110, 8.6).
bool has_body(int status) { return status >= 200 && status != 204 && status != 304; }

}  // namespace

std::string encode_answer(const Response& response, const AnswerForm& form) {
  std::string text = head(response.status, response.content_type, response.headers, form);
  if (has_body(response.status)) fmt::format_to(std::back_inserter(text), "Content-Length: {}\r\n", response.body.size());
  text += form.keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  if (has_body(response.status) && !form.head_only) text += response.body;
  return text;
}

std::string encode_stream_head(std::string_view content_type, const Headers& headers, const AnswerForm& form) {
  std::string text = head(200, content_type, headers, form) + "Cache-Control: no-cache\r\n";
  if (form.chunked) text += "Transfer-Encoding: chunked\r\n";
  text += form.keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
  return text;
}

std::string encode_chunk(std::string_view chunk) { return fmt::format("{:x}\r\n{}\r\n", chunk.size(), chunk); }

}  // namespace slipstream::http
