// The bytes of an answer's head and of its chunks.
#pragma once

#include <string>
#include <string_view>

#include "common/http/server.h"

namespace slipstream::http {

// How the answer to one request must be put.
struct AnswerForm {
  bool keep_alive = true;
  bool head_only = false;  // the request was HEAD: length, but no body
  bool chunked = true;     // false for HTTP/1.0: a stream ends with the connection
};

std::string encode_answer(const Response& response, const AnswerForm& form);
std::string encode_stream_head(std::string_view content_type, const Headers& headers, const AnswerForm& form);
std::string encode_chunk(std::string_view chunk);  // not for an empty one: that would end the stream

inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace slipstream::http
