#include "services/router/http_api/ui_page.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "services/router/http_api/paths.h"
#include "services/router/http_api/ui_files.h"

namespace slipstream {
namespace {

constexpr std::string_view kIndex = "index.html";

// The page runs and loads nothing but the files here, so that no answer of a model can make it do
// anything, and no page of another origin can frame it.
constexpr std::string_view kPolicy =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes{{
    {".html", "text/html; charset=utf-8"},
    {".css", "text/css; charset=utf-8"},
    {".js", "text/javascript; charset=utf-8"},
    {".svg", "image/svg+xml"},
}};

std::string_view type_of(std::string_view name) {
  const auto known = std::ranges::find_if(kTypes, [&](const auto& type) { return name.ends_with(type.first); });
  return known == kTypes.end() ? "application/octet-stream" : known->second;
}

std::string_view file_name(std::string_view path) {
  return path == kUiPath ? kIndex : path.substr(std::min(path.size(), kUiPath.size() + 1));
}

// no-cache: after an upgrade of the router, a browser must not mix files of two builds.
http::Headers headers() {
  return {{"Content-Security-Policy", std::string(kPolicy)},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cache-Control", "no-cache"}};
}

}  // namespace

ApiResult<http::Response> ui_response(std::string_view path) {
  const auto files = ui_files();
  const auto file = std::ranges::find(files, file_name(path), &EmbeddedFile::name);
  if (file != files.end()) {
    return http::Response{
        .content_type = std::string(type_of(file->name)), .body = std::string(file->content), .headers = headers()};
  }
  return std::unexpected(ApiError{
      .status = 404, .message = fmt::format("There is no {}: the page is at {}.", path, kUiPath), .code = "unknown_path"});
}

}  // namespace slipstream
