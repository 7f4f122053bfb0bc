// The checks of `slipstream doctor` that read nothing themselves.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/slipstream/doctor/machine.h"
#include "tools/slipstream/doctor/model.h"
#include "tools/slipstream/doctor/server.h"
#include "tools/slipstream/doctor/services.h"

namespace slipstream::command::doctor {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNone = std::numeric_limits<double>::infinity();

TEST(CpuCheck, NamesThePathAndWhatTheNextOneNeeds) {
  const Finding found = check_cpu({.avx2 = true, .fma = true, .f16c = true});
  EXPECT_EQ(found.level, Level::ok);
  EXPECT_EQ(found.found, "path avx2; avx512 would need AVX-512 F");
}

TEST(CpuCheck, NamesThePathThatTheVerifierTakesAndTheOneForManyRows) {
  const Finding found = check_cpu({.avx2 = true,
                                   .fma = true,
                                   .f16c = true,
                                   .avx512f = true,
                                   .avx512bw = true,
                                   .avx512dq = true,
                                   .avx512vl = true,
                                   .avx512_vnni = true,
                                   .avx512_bf16 = true,
                                   .amx_tile = true,
                                   .amx_bf16 = true});
  EXPECT_EQ(found.found, "path amx, the fastest for a stream alone; --path amx_bf16 is faster for many");
}

TEST(CpuCheck, WarnsWherePlainCodeIsAllThereIs) { EXPECT_EQ(check_cpu({}).level, Level::warn); }

TEST(CoresCheck, WarnsOfMoreThreadsThanCores) {
  EXPECT_EQ(check_cores(2, 0, CpuSplit::of(2)).level, Level::ok);
  EXPECT_EQ(check_cores(2, 4, CpuSplit::of(4)).level, Level::warn);
  EXPECT_EQ(check_cores(1, 0, CpuSplit::with_draft_model(1)).level, Level::warn) << "verifier and drafter share it";
}

TEST(MemoryCheck, FailsWhereItCannotFitAndWarnsWhereItDoesNotNow) {
  const MachineMemory machine{.total = 8e9, .available = 4e9, .limit = kNone};
  EXPECT_EQ(check_memory(3e9, "bf16", machine).level, Level::ok);
  EXPECT_EQ(check_memory(5e9, "bf16", machine).level, Level::warn);
  EXPECT_EQ(check_memory(9e9, "bf16", machine).level, Level::fail);
  EXPECT_THAT(check_memory(9e9, "bf16", machine).advice, HasSubstr("--weights bf16"));
  EXPECT_THAT(check_memory(9e9, "", machine).advice, Not(HasSubstr("--weights")));
  const Finding limited = check_memory(3e9, "", {.total = 8e9, .available = 4e9, .limit = 2e9});
  EXPECT_EQ(limited.level, Level::fail);
  EXPECT_THAT(limited.found, HasSubstr("the cgroup allows 2.0 GB"));
}

TEST(CacheCheck, CountsAsTheDeviceKeepsNumbers) {
  ModelFacts model;
  model.config = {.hidden = 64,
                  .intermediate = 128,
                  .layers = 2,
                  .heads = 4,
                  .kv_heads = 2,
                  .head_size = 16,
                  .vocabulary = 100,
                  .context_max = 4096};
  model.bytes_as_stored = 7;
  const auto asked = [](const char* device, const char* weights) {
    FleetOptions options;
    options.head = kNoMethod;
    options.device = device;
    options.weights = weights;
    return options;
  };
  // Keys and values of 2 layers and 2 heads of 16 numbers; the default is 16,384 tokens.
  constexpr double kNumbers = 2 * 2 * 2 * 16, kTokens = 16384;
  constexpr double kWeights = 2 * (64 * 128 + 64 * 64 + 3 * 64 * 128) + 2 * 100 * 64;
  EXPECT_THAT(check_cache(asked("torch-cpu", "file"), model).found, HasSubstr(", 512 bytes each"));
  EXPECT_THAT(check_cache(asked("torch-cpu", "f16"), model).found, HasSubstr(", 256 bytes each"));
  EXPECT_THAT(check_cache(asked("cuda:1", "file"), model).found, HasSubstr(", 256 bytes each"));
  EXPECT_EQ(memory_need(asked("torch-cpu", "file"), model), 4 * (kWeights + kNumbers * kTokens));
  EXPECT_EQ(memory_need(asked("cuda:0", "file"), model), 2 * (kWeights + kNumbers * kTokens));
  EXPECT_EQ(memory_need(asked("cuda:0", "small"), model), 7 + 2 * kNumbers * kTokens);
  EXPECT_EQ(fewer_bits(asked("torch-cpu", "file")), "bf16");
  EXPECT_EQ(fewer_bits(asked("torch-cpu", "bf16")), "");
  EXPECT_EQ(fewer_bits(asked("cpu", "file")), "q4_0");
}

// A token of this one takes 2 layers x 2 heads x 16 numbers of key and of value, in f32 or bf16.
TEST(CacheCheck, SaysWhatAnAmountOfMemoryHolds) {
  ModelFacts model;
  model.config = {.layers = 2, .heads = 4, .kv_heads = 2, .head_size = 16, .context_max = 4096};
  FleetOptions options;
  options.head = kNoMethod;
  EXPECT_EQ(check_cache(options, model).level, Level::ok);
  EXPECT_THAT(check_cache(options, model).found, HasSubstr("room for 16384 tokens in "));
  options.cache_memory = "1GiB";
  EXPECT_EQ(check_cache(options, model).level, Level::ok);
  EXPECT_THAT(check_cache(options, model).found, HasSubstr(" tokens in 1.0 GiB, "));
  options.cache_memory = "1MiB";
  const Finding few = check_cache(options, model);
  EXPECT_EQ(few.level, Level::warn);
  EXPECT_THAT(few.found, HasSubstr("fewer than a sequence of 4096 needs"));
  options.context_max = 512;
  EXPECT_EQ(check_cache(options, model).level, Level::ok);
  options.cache_memory = "32KiB";
  EXPECT_EQ(check_cache(options, model).level, Level::fail);
  EXPECT_EQ(check_cache(options, model).advice, "--cache-memory 1MiB or more");
}

// Its own keys and values, and its features.
TEST(CacheCheck, CountsTheShareOfADraftHead) {
  ModelFacts model;
  model.config = {.layers = 2, .heads = 4, .kv_heads = 2, .head_size = 16, .context_max = 4096};
  FleetOptions options;
  options.head = kNoMethod;
  options.cache_memory = "1GiB";
  const std::string alone = check_cache(options, model).found;
  options.head = std::string(SLIPSTREAM_SOURCE_FOLDER) + "/tests/data/tiny-head";
  EXPECT_NE(check_cache(options, model).found, alone);
}

TEST(OpenFilesCheck, SaysWhatRaisesTheLimit) {
  EXPECT_EQ(check_open_files(65536, 65536).level, Level::ok);
  EXPECT_EQ(check_open_files(1024, 1048576).advice, "ulimit -n 4096");
  EXPECT_THAT(check_open_files(256, 256).advice, HasSubstr("LimitNOFILE"));
}

TEST(ServerCheck, FailsWithoutAVerifierAndWarnsOfAWorkerThatIsNotReady) {
  top::FleetLook look{.url = "http://a:1", .model = "demo"};
  Findings findings;
  check_server(look, findings);
  EXPECT_TRUE(any_fails(findings));
  look.workers = {{.role = "verifier", .state = "stuck"}};
  findings.clear();
  check_server(look, findings);
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_EQ(findings[0].found, "http://a:1 serves demo: 1 verifier, 0 drafters");
  EXPECT_EQ(findings[1].level, Level::warn);
}

TEST(SettingsCheck, FindsTheSentencesOfAService) {
  EXPECT_EQ(problems_in("model  x  flag\nslipstream-router: --port is bad\nslipstream-router: --a\nRun with --help ...\n",
                        "slipstream-router"),
            "--port is bad; --a");
  EXPECT_EQ(problems_in("", "slipstream-router"), "");
}

}  // namespace
}  // namespace slipstream::command::doctor
