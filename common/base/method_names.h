// The draft methods of this release, by the names that operators and clients use. Others may bring their own.
#pragma once

#include <array>
#include <string_view>

namespace slipstream {

inline constexpr std::string_view kNgram = "ngram";       // look-up in the sequence itself
inline constexpr std::string_view kSmallLm = "small-lm";  // a small model of the target's tokenizer
inline constexpr std::array<std::string_view, 2> kMethodNames{kNgram, kSmallLm};

}  // namespace slipstream
