// The paths of the API, in the forms in which clients write them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "services/router/http_api/api_error.h"
#include "services/router/request.h"

namespace slipstream {

inline constexpr std::string_view kVersion = "/v1";  // of the API: clients may leave it out
inline constexpr std::string_view kChatPath = "/v1/chat/completions";
inline constexpr std::string_view kCompletionsPath = "/v1/completions";
inline constexpr std::string_view kResponsesPath = "/v1/responses";
inline constexpr std::string_view kMessagesPath = "/v1/messages";
inline constexpr std::string_view kCountTokensPath = "/v1/messages/count_tokens";
inline constexpr std::string_view kModelsPath = "/v1/models";  // also /v1/models/{name}
inline constexpr std::string_view kTokenizePath = "/tokenize";
inline constexpr std::string_view kDetokenizePath = "/detokenize";
inline constexpr std::string_view kVersionPath = "/version";
inline constexpr std::string_view kHealthPath = "/health";
inline constexpr std::string_view kReadyPath = "/ready";
inline constexpr std::string_view kMetricsPath = "/metrics";
inline constexpr std::string_view kWorkersPath = "/workers";
inline constexpr std::string_view kTuningPath = "/tuning";
inline constexpr std::string_view kPagePath = "/";
inline constexpr std::string_view kUiPath = "/ui";              // the web page; its files lie below it
inline constexpr std::string_view kDraftersPath = "/drafters";  // /drafters/{incarnation}/drain and /undrain
inline constexpr std::string_view kOllamaPaths = "/api";  // all of Ollama's lie below it, and are there if the operator says so
inline constexpr std::string_view kOllamaChatPath = "/api/chat";
inline constexpr std::string_view kOllamaGeneratePath = "/api/generate";
inline constexpr std::string_view kOllamaTagsPath = "/api/tags";
inline constexpr std::string_view kOllamaShowPath = "/api/show";
inline constexpr std::string_view kOllamaVersionPath = "/api/version";

// The path without a slash at its end, and with the /v1 that some clients leave out of their base
// URL, as other servers take it.
std::string usual_path(std::string path);

// The web page or one of its files.
bool is_ui(std::string_view path);

bool is_ollamas(std::string_view path);

// A part of a path with its escapes read: "Qwen%2FQwen3" is "Qwen/Qwen3". What is no escape stays.
std::string unescaped(std::string_view part);

// "POST" or "GET"; empty: there is no such path.
std::string_view method_of(std::string_view path);

// A 404 that says where to look, or how to turn Ollama's paths on. ollama: they are.
ApiError unknown_path(std::string_view path, bool ollama);

// In which its errors are written.
ErrorShape error_shape_of(std::string_view path);

// What load balancers and Prometheus ask for every few seconds.
bool is_probe(std::string_view path);

// What "/drafters/00000000000000af/drain" or ".../undrain" asks for; nullopt: it is no such path.
std::optional<SetDrained> drain_of(std::string_view path);

// Whether it changes how the router works for everybody: not every key may do that.
bool is_admins(std::string_view path);

// Whether a content encoding, empty if there is none, leaves a body as it is.
bool is_plain(std::string_view content_encoding);

// Whether a content type is JSON, with or without parameters.
bool is_json(std::string_view content_type);

}  // namespace slipstream
