#include "services/router/http_api/tool_blame.h"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "services/router/http_api/json_text.h"
#include "services/router/http_api/request_fields.h"

namespace slipstream {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kTriesMax = 32;  // schemas that are compiled to find the place

// What of a schema holds schemas, by name or in a list; the last two may be one themselves.
constexpr std::array<std::string_view, 10> kHolders{
    "$defs", "definitions", "properties", "patternProperties",   "anyOf", "oneOf",
    "allOf", "prefixItems", "items",      "additionalProperties"};
constexpr auto kOne = std::span(kHolders).last<2>();

struct Place {
  std::string path;  // behind the parameters: ".properties.city"
  std::string reason;
};

// Looks for the smallest schema in a schema that cannot be followed by itself.
class Search {
 public:
  // tries: of all searches.
  Search(const Json& root, GrammarCache& grammars, int& tries) : root_(root), grammars_(grammars), tries_(tries) {}

  std::optional<Place> within(const Json& schema, std::string path) {
    if (!schema.is_object()) return std::nullopt;  // `false`, which nothing matches, is often meant
    auto reason = why_not(schema);
    if (!reason) return std::nullopt;
    for (const auto& [below, part] : parts(schema, path)) {
      if (auto found = within(*part, below)) return found;
    }
    return Place{std::move(path), *std::move(reason)};
  }

 private:
  using Parts = std::vector<std::pair<std::string, const Json*>>;

  // What is referred to comes first: a reference to it is not what is wrong.
  static Parts parts(const Json& schema, const std::string& path) {
    Parts parts;
    for (const std::string_view key : kHolders) {
      const auto at = schema.find(key);
      if (at == schema.end()) continue;
      const std::string below = fmt::format("{}.{}", path, key);
      if (std::ranges::find(kOne, key) != kOne.end()) {
        parts.emplace_back(below, &*at);
      } else if (at->is_object()) {
        for (const auto& [name, part] : at->items()) parts.emplace_back(fmt::format("{}.{}", below, name), &part);
      } else if (at->is_array()) {
        for (size_t i = 0; i < at->size(); ++i) parts.emplace_back(fmt::format("{}[{}]", below, i), &(*at)[i]);
      }
    }
    return parts;
  }

  // What a part refers to ("#/$defs/...") is at the root.
  std::optional<std::string> why_not(const Json& schema) {
    if (++tries_ > kTriesMax) return std::nullopt;
    Json alone = schema;
    for (const char* kept : {"$defs", "definitions"}) {
      if (root_.contains(kept)) alone[kept] = root_[kept];
    }
    const auto error = grammars_.why_not({GrammarForm::json_schema, dump(alone)});
    return error ? std::optional(error->message) : std::nullopt;
  }

  const Json& root_;
  GrammarCache& grammars_;
  int& tries_;
};

}  // namespace

std::optional<ApiError> blamed_tool(std::string_view tools, std::string_view only, GrammarCache& grammars) {
  size_t index = 0;
  int tries = 0;
  for (const Json& tool : Json::parse(tools)) {
    const std::string at = fmt::format("tools[{}].function.parameters", index++);
    const Json& function = tool.at("function");
    const auto parameters = function.find("parameters");
    if (parameters == function.end() || (!only.empty() && function.at("name") != only)) continue;
    const auto place = Search(*parameters, grammars, tries).within(*parameters, at);
    if (!place) continue;
    return bad_field(place->path, fmt::format("`{}` of the tool `{}` cannot be followed: {}", place->path,
                                              function.at("name").get<std::string>(), place->reason));
  }
  return std::nullopt;
}

}  // namespace slipstream
