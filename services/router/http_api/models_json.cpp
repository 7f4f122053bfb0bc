#include "services/router/http_api/models_json.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "services/router/http_api/json_text.h"

namespace slipstream {

using Json = nlohmann::ordered_json;

ApiResult<std::string> models_json(const Offer& offer, std::string_view asked, int64_t created, int32_t context) {
  const auto model = [&](std::string_view name) {
    return Json{
        {"id", name}, {"object", "model"}, {"created", created}, {"owned_by", "slipstream"}, {"max_model_len", context}};
  };
  if (asked.empty()) {
    Json list = Json::array();
    for (const std::string& name : offer.names) {
      if (name != kAnyModelName) list.push_back(model(name));
    }
    return dump(Json{{"object", "list"}, {"data", std::move(list)}});
  }
  if (offer.takes(asked)) return dump(model(asked));
  return std::unexpected(ApiError{.status = 404,
                                  .message = fmt::format("The model `{}` is not served here; `{}` is.", asked, offer.name()),
                                  .param = "model",
                                  .code = "model_not_found"});
}

}  // namespace slipstream
