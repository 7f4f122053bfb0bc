#include "common/drafting/make_method.h"

namespace slipstream {

Result<std::unique_ptr<Method>> make_method(const MethodParts& parts) {
#define SLIPSTREAM_MAKE(id, name, ...) \
  if (parts.options.method == name) return make_##id(parts);
  SLIPSTREAM_DRAFT_METHODS(SLIPSTREAM_MAKE)
#undef SLIPSTREAM_MAKE
  return fail("there is no draft method {}", parts.options.method);
}

}  // namespace slipstream
