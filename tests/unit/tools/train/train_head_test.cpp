// `slipstream-train head` and what goes before it, on the devices that every machine has.
#include <csignal>

#include <ATen/TensorOperators.h>

#include "tests/unit/tools/train/command.h"
#include "tools/train/weights.h"

namespace slipstream::train {
namespace {

using testing::HasSubstr;

class TrainHead : public SlipstreamTrain {
 protected:
  void SetUp() override { folder_.write("chats.jsonl", chats(60)); }

  std::string documents() const { return folder_ / "chats.jsonl"; }
  std::vector<std::string> head(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{
        "head", "--out",    folder_ / out, "--model",        kModel, "--draft-vocabulary", "32", "--batch",
        "2",    "--unroll", "2",           "--warmup-steps", "5",    "--checkpoint-steps", "10", "--threads",
        "2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(TrainHead, OfDocumentsHasTheBitsOfItsShardsAndGoesOnToThem) {
  ASSERT_EQ(run({"collect", "--documents", documents(), "--out", folder_ / "features", "--model", kModel}), 0) << said();
  ASSERT_EQ(run(head("shards", {"--data", folder_ / "features", "--steps", "40"})), 0) << said();
  const std::vector<std::string> of_documents = head("documents", {"--documents", documents(), "--steps", "40"});
  const pid_t child = start(of_documents);
  wait_for_step("documents", 13);
  ::kill(child, SIGTERM);
  wait(child);
  ASSERT_EQ(run(of_documents), 0) << said();
  for (const char* file : {"losses.tsv", "model/model.safetensors", "model/config.json"}) {
    EXPECT_EQ(folder_.read(std::string("shards/") + file), folder_.read(std::string("documents/") + file)) << file;
  }
}

TEST_F(TrainHead, BeginsWithTheMeanOfSeveralHeads) {
  ASSERT_EQ(run({"collect", "--documents", documents(), "--out", folder_ / "features", "--model", kModel}), 0) << said();
  const auto trained = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.end(), {"--data", folder_ / "features"});
    EXPECT_EQ(run(head(out, more)), 0) << said();
    const HeadConfig shape{
        .target = tiny_config(), .taps = default_taps(tiny_config()), .vocabulary = std::vector<TokenId>(32)};
    return Weights::load(Checkpoint::open(folder_ / (out + "/model")).value(), head_tensors(shape)).value();
  };
  const std::vector<std::string> still{"--steps", "1", "--learning-rate", "0"};
  const auto begun_with = [&](const std::vector<std::string>& heads) {
    std::vector<std::string> more = still;
    more.push_back("--begin-with");
    for (const std::string& name : heads) more.push_back(folder_ / (name + "/model"));
    return more;
  };
  const Weights one = trained("one", {"--steps", "20"}), other = trained("other", {"--steps", "20", "--seed", "9"});
  const Weights same = trained("same", begun_with({"one"})), mean = trained("mean", begun_with({"one", "other"}));
  for (const Parameter& parameter : mean.all()) {
    const std::string& name = parameter.spec.name;
    const at::Tensor expected = (one.at(name) + other.at(name)) / 2;
    EXPECT_TRUE(parameter.value.allclose(expected, 0.01, 1e-3)) << name << ", which is rounded to bf16";
    EXPECT_TRUE(same.at(name).allclose(one.at(name), 0.01, 1e-3)) << name;
  }
  EXPECT_FALSE(mean.at("fc.weight").allclose(one.at("fc.weight"), 0.01, 1e-3));
  EXPECT_EQ(run(head("mean", {"--data", folder_ / "features", "--steps", "1", "--learning-rate", "0", "--begin-with",
                              folder_ / "other/model", folder_ / "one/model"})),
            1);
  EXPECT_THAT(said(), HasSubstr("was begun with the first weights' hash"));
}

TEST_F(TrainHead, TrainsForATimeAndIsDoneThen) {
  const std::vector<std::string> timed = head("out", {"--documents", documents(), "--minutes", "0.02"});
  ASSERT_EQ(run(timed), 0) << said();
  EXPECT_THAT(said(), HasSubstr("0.02 minutes of 2 chats"));
  EXPECT_THAT(said(), HasSubstr("accepted by depth"));
  const int64_t steps = lines("out/losses.tsv");
  EXPECT_GT(steps, 2);
  ASSERT_EQ(run(timed), 0) << said();
  EXPECT_EQ(lines("out/losses.tsv"), steps);
}

// Target and head by libtorch, as on a GPU; bits differ from those of cpu, and the draft vocabulary
// of a training that goes on elsewhere does not.
TEST_F(TrainHead, IsMadeOnTheDeviceOfTorch) {
  const std::vector<std::string> device{"--device", "torch-cpu"};
  const std::string made = folder_ / "out/model";
  ASSERT_EQ(
      run(head("out", {"--documents", documents(), "--steps", "20", "--micro-batch", "2", "--bf16", "--device", "torch-cpu"})),
      0)
      << said();
  ASSERT_EQ(run({"answer", "--documents", documents(), "--out", folder_ / "answers.jsonl", "--model", kModel, "--answer-tokens",
                 "12", "--device", "torch-cpu"}),
            0)
      << said();
  ASSERT_EQ(run({"trace", "--documents", folder_ / "answers.jsonl", "--head", made, "--model", kModel, "--out",
                 folder_ / "trace", "--answer-tokens", "12", "--depth", "2", "--device", "torch-cpu"}),
            0)
      << said();
  ASSERT_EQ(run({"acceptance", "--head", made, "--traces", folder_ / "trace", "--epochs", "2", "--batch", "64", "--device",
                 "torch-cpu"}),
            0)
      << said();
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out/model/acceptance/model.safetensors"));
}

TEST_F(TrainHead, NewAnswersAreOfTheirPromptsAndOfTheirSeed) {
  const auto answers = [&](const std::string& file, const std::string& seed) {
    EXPECT_EQ(run({"answer", "--documents", documents(), "--out", folder_ / file, "--model", kModel, "--answer-tokens", "20",
                   "--seed", seed}),
              0)
        << said();
    return read_chat_documents(folder_ / file, 64).value();
  };
  const std::vector<ChatDocument> one = answers("one", "1"), again = answers("again", "1"), other = answers("other", "1000");
  const std::vector<ChatDocument> asked = read_chat_documents(documents(), 64).value();
  ASSERT_EQ(one.size(), asked.size());
  size_t differ = 0;
  for (size_t i = 0; i < asked.size(); ++i) {
    ASSERT_EQ(one[i].answer, asked[i].answer);
    EXPECT_TRUE(std::ranges::equal(std::span(one[i].tokens).first(4), std::span(asked[i].tokens).first(4)));
    EXPECT_EQ(one[i].tokens, again[i].tokens);
    differ += one[i].tokens == other[i].tokens ? 0 : 1;
  }
  EXPECT_GT(differ, asked.size() / 2);
}

TEST_F(TrainHead, RefusesBadInputWithOneSentence) {
  const auto refusal = [&](const std::vector<std::string>& more) {
    EXPECT_NE(run(head("out", more)), 0);
    return said();
  };
  EXPECT_THAT(refusal({}), HasSubstr("name --data, a folder of feature shards, or --documents"));
  EXPECT_THAT(refusal({"--documents", documents(), "--device", "gpu"}), HasSubstr("choose one of: cpu, torch-cpu, cuda:N"));
  EXPECT_THAT(refusal({"--documents", documents(), "--device", "cuda:63"}), HasSubstr("cuda:63"));
  EXPECT_THAT(refusal({"--documents", documents(), "--steps", "5", "--minutes", "1"}), HasSubstr("--steps excludes --minutes"));
  EXPECT_THAT(refusal({"--documents", documents(), "--feature-memory", "5"}), HasSubstr("has no unit"));
  EXPECT_THAT(refusal({"--documents", documents(), "--held-out-every", "100"}), HasSubstr("there are 60 chats"));
}

}  // namespace
}  // namespace slipstream::train
