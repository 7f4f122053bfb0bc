// What an access log tells of one request, and the request's id.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace slipstream::http {

// Told once for each request, when its answer is complete and on its way, or its connection ended.
struct Access {
  // client_left: or it did not read and was cut; cut: by this server, in the middle of an answer.
  enum class End : uint8_t { answered, client_left, cut };

  std::string request_id, client, method, path;  // client: an IP address; method and path: "-" if they were not read
  int status = 0;                                // 0: the connection ended before an answer began
  size_t bytes = 0;                              // of the answer, head and body
  std::chrono::steady_clock::duration took{};    // since the head was read
  std::string note;                              // what the handler said of it (Exchange::annotate)
  std::string subject;                           // what it is called in other logs (Exchange::concerns)
  End end = End::answered;
};
// Called on the server's thread; must not block.
using AccessLog = std::function<void(const Access&)>;

inline constexpr std::string_view kRequestIdHeader = "X-Request-Id";
inline constexpr size_t kRequestIdBytesMax = 128;

// Makes ids that no other process makes, and takes those that clients send.
class RequestIds {
 public:
  explicit RequestIds(uint64_t process) : process_(process) {}
  // The client's id, if it is 1 to kRequestIdBytesMax visible ASCII characters; else a new one.
  std::string id_of(std::string_view sent);

 private:
  const uint64_t process_;  // random
  uint64_t newest_ = 0;
};

std::string words_of(const Access& access);  // one line of a log

}  // namespace slipstream::http
