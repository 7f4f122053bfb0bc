#include "common/drafting/make_method.h"

namespace slipstream {

Result<std::unique_ptr<Method>> make_method(const DrafterOptions& options, const Fingerprint& target) {
#define SLIPSTREAM_MAKE(id, name, ...) \
  if (options.method == name) return make_##id(options, target);
  SLIPSTREAM_DRAFT_METHODS(SLIPSTREAM_MAKE)
#undef SLIPSTREAM_MAKE
  return fail("there is no draft method {}", options.method);
}

}  // namespace slipstream
