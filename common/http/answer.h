// Encodes answers as HTTP/1.1: whole answers, heads of streams, and chunks. Pure.
#pragma once

#include <string>
#include <string_view>

#include "common/http/server.h"

namespace slipstream::http {

// The form in which a request wants its answer.
struct AnswerForm {
  bool keep_alive = true;  // the connection stays open after the answer
  bool head_only = false;  // the request was HEAD: send the length, but no body
  bool chunked = true;     // false for HTTP/1.0, where a stream ends with its connection
  std::string request_id;  // empty: none is told
  std::string origin;      // of the page that may see the answer; empty: none
};

std::string encode_answer(const Response& response, const AnswerForm& form);
std::string encode_stream_head(std::string_view content_type, const Headers& headers, const AnswerForm& form);
std::string encode_chunk(std::string_view chunk);  // chunk: not empty, as an empty chunk ends the stream

inline constexpr std::string_view kStatusLine = "HTTP/1.1 ";  // begins every answer
inline constexpr std::string_view kLeadingZero = "0";         // may begin the size of a chunk, which stays what it is
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace slipstream::http
