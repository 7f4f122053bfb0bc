// Sizes in bytes as users write them: "2GiB", "512MiB", "3GB".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace slipstream {

// A whole number and a unit: KiB, MiB, GiB and TiB are powers of 1,024; KB, MB, GB and TB of 1,000.
// A size without a unit is an error, since it may be meant in any. Errors are what follows the name
// of the setting: "2 has no unit; write ...".
Result<uint64_t> byte_size(std::string_view text);

// "2.0 GiB", "512.0 MiB": with one digit behind the point, rounded down.
std::string byte_size_words(uint64_t bytes);

}  // namespace slipstream
