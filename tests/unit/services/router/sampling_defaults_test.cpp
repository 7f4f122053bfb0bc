// Where the sampling of requests comes from that do not say how to sample.
#include "services/router/sampling_defaults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/gguf_of_folder.h"
#include "tests/unit/common/checkpoint/gguf/small_gguf.h"
#include "tests/unit/common/text/golden.h"

namespace slipstream {
namespace {

using testing::HasSubstr;

class SamplingDefaultsTest : public testing::Test {
 protected:
  // Of a folder whose generation_config.json is this.
  Result<SamplingDefaults> read(const std::string& generation_config, RouterOptions options = {}) {
    folder_.write("generation_config.json", generation_config);
    options.model = folder_.path().string();
    return read_sampling_defaults(options);
  }
  TemporaryFolder folder_;
};

TEST_F(SamplingDefaultsTest, AreOpenAisWhereTheModelSaysNothing) {
  RouterOptions options;
  options.model = folder_.path().string();
  EXPECT_EQ(read_sampling_defaults(options), SamplingDefaults{});
  EXPECT_EQ(read(R"({"eos_token_id":2,"temperature":null})"), SamplingDefaults{});
}

TEST_F(SamplingDefaultsTest, AreThoseThatAFolderRecommends) {
  EXPECT_EQ(read(R"({"temperature":0.6,"top_p":0.95,"top_k":20,"min_p":0.05,"repetition_penalty":1.1,"do_sample":true})"),
            (SamplingDefaults{.params = {.temperature = 0.6F, .top_k = 20, .top_p = 0.95F, .min_p = 0.05F},
                              .repetition_penalty = 1.1F}));
}

TEST_F(SamplingDefaultsTest, AreThoseThatAGgufFileRecommends) {
  GgufWriter writer;
  writer.text("general.architecture", "llama").f32("general.sampling.temp", 0.7F).u32("general.sampling.top_k", 40);
  RouterOptions options;
  options.model = folder_.write("small.gguf", writer.bytes()).string();
  EXPECT_EQ(read_sampling_defaults(options), (SamplingDefaults{.params = {.temperature = 0.7F, .top_k = 40}}));
}

TEST_F(SamplingDefaultsTest, AreTheOperatorsWhereHeSaysSo) {
  RouterOptions options;
  options.default_temperature = 0;
  options.default_top_k = 0;
  EXPECT_EQ(read(R"({"temperature":0.6,"top_k":20,"top_p":0.9})", options),
            (SamplingDefaults{.params = {.temperature = 0, .top_p = 0.9F}}));
}

TEST_F(SamplingDefaultsTest, AreRefusedOutOfRangeWithFileAndField) {
  const auto read_bad = read(R"({"temperature":7})");
  ASSERT_FALSE(read_bad);
  EXPECT_THAT(read_bad.error().message, testing::AllOf(HasSubstr("generation_config.json"), HasSubstr("temperature")));
  EXPECT_FALSE(read(R"({"top_p":0})"));
  EXPECT_FALSE(read(R"({"min_p":1})"));
}

TEST(SamplingDefaultsWords, NameWhatIsNotNeutral) {
  EXPECT_EQ(words_of({}), "temperature 1");
  EXPECT_EQ(words_of({.params = {.temperature = 0.6F, .top_k = 20}}), "temperature 0.6, top_k 20");
}

}  // namespace
}  // namespace slipstream
