// Expected numbers: gguf.quants.dequantize of the `gguf` package on random blocks
// (make_block_runs.py).
#include "common/checkpoint/block_runs.h"

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "common/checkpoint/dequantise.h"
#include "tests/unit/common/checkpoint/hex.h"

namespace slipstream {
namespace {

struct Case {
  const char* name;
  Dtype dtype;
};
class BlockRunsOfType : public testing::TestWithParam<Case> {};

TEST_P(BlockRunsOfType, GiveTheReferencesBits) {
  const auto golden = nlohmann::json::parse(std::ifstream(SLIPSTREAM_BLOCK_RUNS)).at(GetParam().name);
  const std::string blocks = from_hex(golden.at("blocks")), expected = from_hex(golden.at("numbers"));
  std::vector<float> numbers(expected.size() / sizeof(float));
  const HostMatrix matrix{.name = "m",
                          .dtype = GetParam().dtype,
                          .rows = 1,
                          .cols = static_cast<int32_t>(numbers.size()),
                          .bytes = std::as_bytes(std::span(blocks))};
  ASSERT_EQ(matrix.row_bytes(), blocks.size());
  read_row(matrix, 0, numbers);
  const std::string ours(reinterpret_cast<const char*>(numbers.data()), expected.size());
  EXPECT_TRUE(ours == expected);
}

INSTANTIATE_TEST_SUITE_P(All, BlockRunsOfType,
                         testing::Values(Case{"q5_0", Dtype::q5_0}, Case{"q5_1", Dtype::q5_1}, Case{"q2_k", Dtype::q2_k},
                                         Case{"q3_k", Dtype::q3_k}, Case{"q4_k", Dtype::q4_k}, Case{"q5_k", Dtype::q5_k},
                                         Case{"q6_k", Dtype::q6_k}, Case{"iq4_nl", Dtype::iq4_nl},
                                         Case{"iq4_xs", Dtype::iq4_xs}),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace slipstream
