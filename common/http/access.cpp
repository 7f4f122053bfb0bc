#include "common/http/access.h"

#include <algorithm>

#include <fmt/format.h>

namespace slipstream::http {

std::string RequestIds::id_of(std::string_view sent) {
  const auto visible = [](char c) { return c > ' ' && c <= '~'; };
  if (!sent.empty() && sent.size() <= kRequestIdBytesMax && std::ranges::all_of(sent, visible)) return std::string(sent);
  return fmt::format("req-{:016x}{:x}", process_, ++newest_);
}

std::string words_of(const Access& access) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(access.took).count();
  std::string line = fmt::format("{} {} {} {} {} ms {} bytes {}", access.client, access.method, access.path, access.status, ms,
                                 access.bytes, access.request_id);
  if (access.end == Access::End::client_left) line += ", the client left";
  if (access.end == Access::End::cut) line += ", cut";
  if (!access.note.empty()) line += ": " + access.note;
  if (access.note.empty() && !access.subject.empty()) line += ": " + access.subject;
  return line;
}

}  // namespace slipstream::http
