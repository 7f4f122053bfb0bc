// Every metric of the product, in one place. docs/METRICS.md explains each; tests/tidy holds the two together.
#pragma once

#include <string_view>

namespace slipstream {

struct MetricName {
  std::string_view name;
  std::string_view help;
};

namespace metric {
inline constexpr MetricName kBuildInfo{"slipstream_build_info", "Always 1; labels say what runs."};
}  // namespace metric

}  // namespace slipstream
