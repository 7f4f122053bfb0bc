#include "services/router/http_api/paths.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "common/base/ascii_case.h"

namespace slipstream {
namespace {

constexpr std::array kPostPaths{kChatPath,     kCompletionsPath, kResponsesPath,  kMessagesPath,       kCountTokensPath,
                                kTokenizePath, kDetokenizePath,  kOllamaChatPath, kOllamaGeneratePath, kOllamaShowPath};
constexpr std::array kGetPaths{kPagePath,   kHealthPath,  kReadyPath,  kMetricsPath,    kWorkersPath,
                               kTuningPath, kVersionPath, kModelsPath, kOllamaTagsPath, kOllamaVersionPath};

constexpr size_t kIncarnationDigits = 16;  // hexadecimal, as the logs and /workers write it

// Whether the path is `base` or lies under it.
bool within(std::string_view path, std::string_view base) {
  return path.starts_with(base) && (path.size() == base.size() || path[base.size()] == '/');
}

}  // namespace

std::string usual_path(std::string path) {
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto lacks_version = [&](std::string_view known) {
    const std::string_view without = known.substr(kVersion.size());
    return known == kModelsPath ? within(path, without) : path == without;
  };
  return std::ranges::any_of(std::array{kChatPath, kCompletionsPath, kResponsesPath, kModelsPath}, lacks_version)
             ? std::string(kVersion) + path
             : path;
}

bool is_ui(std::string_view path) { return within(path, kUiPath); }

bool is_ollamas(std::string_view path) { return within(path, kOllamaPaths); }

std::string unescaped(std::string_view part) {
  std::string text;
  for (size_t at = 0; at < part.size(); ++at) {
    unsigned byte = 0;
    const char* const digits = part.data() + at + 1;
    const bool escape = part[at] == '%' && part.size() - at > 2;
    if (escape && std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      text += static_cast<char>(byte);
      at += 2;
    } else {
      text += part[at];
    }
  }
  return text;
}

std::string_view method_of(std::string_view path) {
  if (std::ranges::find(kPostPaths, path) != kPostPaths.end() || drain_of(path)) return "POST";
  return std::ranges::find(kGetPaths, path) != kGetPaths.end() || within(path, kModelsPath) || is_ui(path) ? "GET" : "";
}

ApiError unknown_path(std::string_view path, bool ollama) {
  const std::string where =
      !ollama && is_ollamas(path)
          ? std::string("Ollama's API is off; start `slipstream serve`, or a router by itself, with --ollama")
          : fmt::format("see {}, {}, {} or the page at /", kChatPath, kCompletionsPath, kModelsPath);
  return {.status = 404, .message = fmt::format("There is no {}: {}.", path, where), .code = "unknown_path"};
}

ErrorShape error_shape_of(std::string_view path) {
  if (is_ollamas(path)) return ErrorShape::ollama;
  return within(path, kMessagesPath) ? ErrorShape::anthropic : ErrorShape::openai;
}

bool is_probe(std::string_view path) { return path == kHealthPath || path == kReadyPath || path == kMetricsPath; }

std::optional<SetDrained> drain_of(std::string_view path) {
  if (!within(path, kDraftersPath) || path.size() == kDraftersPath.size()) return std::nullopt;
  path.remove_prefix(kDraftersPath.size() + 1);
  const size_t slash = path.find('/');
  const std::string_view name = path.substr(0, slash), verb = slash == path.npos ? "" : path.substr(slash + 1);
  SetDrained asked{.drained = verb == "drain"};
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), asked.drafter, 16);
  const bool whole = error == std::errc() && end == name.data() + name.size() && name.size() == kIncarnationDigits;
  return whole && (verb == "drain" || verb == "undrain") ? std::optional(asked) : std::nullopt;
}

bool is_admins(std::string_view path) { return within(path, kDraftersPath); }

bool is_json(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.ends_with(' ') || content_type.ends_with('\t')) content_type.remove_suffix(1);
  return is_but_for_case(content_type, "application/json");
}

bool is_plain(std::string_view content_encoding) {
  return content_encoding.empty() || is_but_for_case(content_encoding, "identity");
}

}  // namespace slipstream
