#include "common/metrics/build_info.h"

namespace slipstream {

void add_build_info(std::string_view role, std::string_view numerics, Exposition& page) {
  page.gauge(metric::kBuildInfo, 1,
             {{"role", role}, {"version", SLIPSTREAM_VERSION}, {"commit", SLIPSTREAM_COMMIT}, {"numerics", numerics}});
}

}  // namespace slipstream
