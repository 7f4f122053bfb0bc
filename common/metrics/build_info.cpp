#include "common/metrics/build_info.h"

#include "common/base/build_info.h"

namespace slipstream {

void add_build_info(std::string_view role, std::string_view numerics, Exposition& page) {
  const BuildInfo info = build_info();
  page.gauge(metric::kBuildInfo, 1,
             {{"role", role},
              {"version", info.version},
              {"commit", info.revision},
              {"compiler", info.compiler},
              {"build", info.build},
              {"numerics", numerics}});
}

}  // namespace slipstream
