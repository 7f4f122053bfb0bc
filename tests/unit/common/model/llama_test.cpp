#include "common/model/llama.h"

#include <gtest/gtest.h>

#include "common/model/cpu/cpu_device.h"
#include "tests/unit/common/model/models.h"

namespace slipstream {
namespace {

// Computes nothing, and counts the matrices that rows were multiplied by.
class CountingOps final : public Ops {
 public:
  int plain = 0, fine = 0;

  void linear(Tensor, const Weight&, const Weight*, Tensor) override { ++plain; }
  void linear_fine(Tensor, const Weight&, const Weight*, Tensor) override { ++fine; }
  void embed(const Weight&, float, Tensor) override {}
  void add_rms_norm(Tensor, const Tensor*, const Weight&, float, Tensor) override {}
  void norm_heads(Tensor, int32_t, int32_t, const Weight&, float) override {}
  void rope_store(Tensor, const RopeTable&, KvCache&, int) override {}
  void attend(Tensor, const KvCache&, int, const AttentionRules&, Tensor) override {}
  void silu_gate(Tensor, Tensor) override {}
  void gelu_gate(Tensor, Tensor) override {}
  void soft_cap(Tensor, float) override {}
  void add_silu(Tensor, Tensor) override {}
  void put_columns(Tensor, Tensor, int32_t) override {}
  void store_features(Tensor, FeaturePlane&) override {}
  void load_features(const FeaturePlane&, Tensor) override {}
  void linear_extra(Tensor, const Weight&, Tensor) override {}
  void spread_columns(Tensor, const ColumnMap&, const Tensor*, Tensor) override {}
  void gather(Tensor, Tensor) override {}
  void sample_tokens(Tensor, Tensor) override {}
  void rank(Tensor, Tensor) override {}
};

CountingOps counted(bool fine_rows) {
  const auto device = make_cpu_device({}).value();
  const Checkpoint checkpoint = Checkpoint::open(test_data("tiny-llama")).value();
  const LlamaConfig config = read_llama_config(test_data("tiny-llama")).value();
  const auto model =
      Llama::load(checkpoint, config, *device, {.rows_max = 2, .cache_blocks = 1, .positions = 8, .fine_rows = fine_rows});
  CountingOps ops;
  model.value().forward(ops, {.rows = 2, .wanted = 1});
  return ops;
}

TEST(Llama, MultipliesTheOutputLayerAloneByFineRowsUnlessAllAreAskedFor) {
  const int matrices = counted(true).fine;
  EXPECT_GT(matrices, 4);
  EXPECT_EQ(counted(true).plain, 0);
  EXPECT_EQ(counted(false).fine, 1);
  EXPECT_EQ(counted(false).plain, matrices - 1);
}

}  // namespace
}  // namespace slipstream
