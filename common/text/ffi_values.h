// Values across the C ABI: what Rust gave is copied and freed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/ids.h"
#include "common/text/ffi.h"

namespace slipstream {

inline SlipstreamSlice slice_of(std::string_view text) { return {text.data(), text.size()}; }

inline std::string taken(SlipstreamBytes bytes) {
  std::string text(bytes.data, bytes.size);
  slipstream_bytes_free(bytes);
  return text;
}

inline std::vector<TokenId> taken(SlipstreamIds ids) {
  std::vector<TokenId> copy(ids.data, ids.data + ids.size);
  slipstream_ids_free(ids);
  return copy;
}

}  // namespace slipstream
