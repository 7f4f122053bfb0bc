// The command as a user runs it: a process that is killed, stopped, given bad input.
#include <csignal>

#include "common/checkpoint/fingerprint.h"
#include "common/checkpoint/llama_config.h"
#include "tests/unit/tools/train/command.h"

namespace slipstream::train {
namespace {

using testing::HasSubstr;

TEST_F(SlipstreamTrain, KilledAtAnyMomentEndsWithTheWeightsAndLossesOfAnUnbrokenRun) {
  ASSERT_EQ(run(training("whole", {"--steps", "100"})), 0) << said();
  for (const int64_t step : {3, 17, 41, 60}) {
    const pid_t child = start(training("cut", {"--steps", "100"}));
    wait_for_step("cut", step);
    ::kill(child, SIGKILL);
    ASSERT_EQ(wait(child), -SIGKILL) << said();
  }
  folder_.write("cut/checkpoint.safetensors.new", "a kill in the middle of a write leaves this");
  ASSERT_EQ(run(training("cut", {"--steps", "100"})), 0) << said();
  EXPECT_THAT(said(), HasSubstr("going on after step"));
  for (const char* file : {"checkpoint.safetensors", "losses.tsv", "model/model.safetensors", "model/config.json"}) {
    const std::string whole = folder_.read(std::string("whole/") + file);
    EXPECT_FALSE(whole.empty());
    EXPECT_TRUE(whole == folder_.read(std::string("cut/") + file)) << file;
  }
  EXPECT_EQ(lines("cut/losses.tsv"), 101);
}

TEST_F(SlipstreamTrain, StoppedBySigtermWritesACheckpointAndGoesOnLater) {
  const pid_t child = start(training("out", {"--steps", "100000", "--checkpoint-steps", "100000"}));
  wait_for_step("out", 12);
  ::kill(child, SIGTERM);
  ASSERT_EQ(wait(child), 3) << said();
  EXPECT_THAT(said(), HasSubstr("the same command goes on"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "out/checkpoint.safetensors"));
  EXPECT_EQ(run(training("out", {"--steps", "50"})), 1);
  EXPECT_THAT(said(), HasSubstr("was begun with --steps = 100000, and now --steps = 50"));
  // Matrices of as many numbers, which another number of heads would read otherwise.
  EXPECT_EQ(run(training("out", {"--steps", "100000", "--checkpoint-steps", "100000", "--heads", "8", "--kv-heads", "4",
                                 "--head-size", "4"})),
            1);
  EXPECT_THAT(said(), HasSubstr("was begun with the sizes = "));
}

// Guessing evenly among 64 ids costs 4.16 nats; by their frequencies alone, about 3.0.
TEST_F(SlipstreamTrain, OfTwoLayersLearnsTheLettersOfThesePages) {
  ASSERT_EQ(
      run({"run",         "--out", folder_ / "out",   "--data", folder_ / "shard", "--model", kModel,          "--new-weights",
           "--hidden",    "128",   "--intermediate",  "384",    "--heads",         "4",       "--kv-heads",    "2",
           "--head-size", "32",    "--length",        "128",    "--batch",         "16",      "--micro-batch", "16",
           "--steps",     "250",   "--learning-rate", "0.003",  "--threads",       "2"}),
      0)
      << said();
  std::istringstream losses(folder_.read("out/losses.tsv"));
  std::string line;
  double last = 0;
  int counted = 0;
  for (int number = 0; std::getline(losses, line); ++number) {
    if (number <= 230) continue;  // the mean of the last twenty steps
    last += std::stod(line.substr(line.find('\t')));
    ++counted;
  }
  ASSERT_EQ(counted, 20);
  EXPECT_LT(last / 20, 2.0);
}

TEST_F(SlipstreamTrain, StopsAndSaysWhatToDoIfTheLossIsNoNumber) {
  EXPECT_EQ(run(training("out", {"--steps", "100", "--learning-rate", "1000", "--clip", "1e9", "--warmup-steps", "0"})), 1);
  EXPECT_THAT(said(), HasSubstr("lower --learning-rate, which is 1000, or raise --warmup-steps, which is 0"));
}

TEST_F(SlipstreamTrain, RefusesBadInputWithOneSentence) {
  const auto refusal = [&](const std::vector<std::string>& arguments) {
    EXPECT_NE(run(arguments), 0);
    EXPECT_EQ(lines("log"), 1) << said();
    return said();
  };
  EXPECT_THAT(refusal(training("out", {"--data", folder_ / "none"})), HasSubstr("No such file or directory"));
  EXPECT_THAT(refusal(training("out", {"--model", folder_ / "none"})), HasSubstr("holds no config.json"));
  EXPECT_THAT(refusal(training("out", {"--length", "2000"})), HasSubstr("over the model's context of 1024 tokens"));
  EXPECT_THAT(refusal(training("out", {"--kv-heads", "3"})),
              HasSubstr("4 attention heads cannot share 3 key-value heads evenly"));
  EXPECT_THAT(refusal(training("out", {"--micro-batch", "3"})), HasSubstr("--micro-batch 3 must divide --batch 4"));
  EXPECT_THAT(refusal(training("log")), HasSubstr("cannot use the folder"));
  std::filesystem::copy(kModel, folder_ / "other");
  std::string tokenizer = folder_.read("other/tokenizer.json");
  folder_.write("other/tokenizer.json", tokenizer.replace(tokenizer.find("<unk>"), 5, "<who>"));
  EXPECT_THAT(refusal(training("out", {"--teacher", folder_ / "other"})), HasSubstr("has another tokenizer than"));
  EXPECT_THAT(refusal(training("out", {"--teacher", folder_ / "none"})), HasSubstr("none"));
  EXPECT_THAT(
      refusal({"run", "--out", folder_ / "out", "--data", folder_ / "shard", "--model", kModel, "--keep-layers", "1", "1"}),
      HasSubstr("each once and ascending"));
  EXPECT_THAT(refusal({"shard", folder_ / "made", "--model", kModel}), HasSubstr("name --text, files of text, or --documents"));
  folder_.write("text", "\xFF\xFE");
  EXPECT_THAT(refusal({"shard", folder_ / "made", "--model", kModel, "--text", folder_ / "text"}), HasSubstr("text: "));
}

TEST_F(SlipstreamTrain, LearnsFromATeacherOnAShardOfItsChats) {
  folder_.write("chats.jsonl", chats(40));
  ASSERT_EQ(run({"shard", folder_ / "chats", "--model", kModel, "--documents", folder_ / "chats.jsonl"}), 0) << said();
  EXPECT_THAT(said(), HasSubstr("holds 0 texts, 40 chats"));
  std::vector<TokenId> ids;
  for (const ChatDocument& chat : random_chats(40)) ids.insert(ids.end(), chat.tokens.begin(), chat.tokens.end());
  const TokenShard made = TokenShard::open(folder_ / "chats", hash_tokenizer(kModel).value(), kVocabulary).value();
  EXPECT_TRUE(std::ranges::equal(made.tokens(), ids));
  const std::vector<std::string> more{"--data", folder_ / "chats", "--held-out", folder_ / "chats", "--teacher",
                                      kModel,   "--loss",          "reverse-kl", "--steps",         "20"};
  ASSERT_EQ(run(training("student", more)), 0) << said();
  EXPECT_THAT(said(), HasSubstr("by reverse-kl"));
  EXPECT_THAT(said(), HasSubstr("the teacher would accept"));
  std::vector<std::string> other = more;
  other[7] = "forward-kl";
  EXPECT_EQ(run(training("student", other)), 1);
  EXPECT_THAT(said(), HasSubstr("was begun with --loss = reverse-kl, and now --loss = forward-kl"));
}

TEST_F(SlipstreamTrain, LearnsFromATeachersFeaturesWithoutComputingIt) {
  folder_.write("chats.jsonl", chats(60));
  ASSERT_EQ(run({"collect", "--documents", folder_ / "chats.jsonl", "--out", folder_ / "features", "--model", kModel}), 0)
      << said();
  const auto learn = [&](const std::string& out, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{
        "run", "--out",         folder_ / out, "--model",   kModel, "--batch",       "4", "--steps",
        "20",  "--micro-batch", "2",           "--threads", "1",    "--keep-layers", "1", "--checkpoint-steps",
        "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  };
  const std::vector<std::string> features{"--teacher", kModel, "--features", folder_ / "features", "--held-out-every", "10"};
  ASSERT_EQ(learn("student", features), 0) << said();
  EXPECT_THAT(said(), HasSubstr("54 chats and 6 held out"));
  EXPECT_THAT(said(), HasSubstr("learns from"));
  EXPECT_THAT(said(), HasSubstr("step 20: held-out loss"));
  EXPECT_THAT(said(), HasSubstr("the teacher would accept"));
  ASSERT_EQ(learn("again", features), 0) << said();
  EXPECT_TRUE(folder_.read("again/model/model.safetensors") == folder_.read("student/model/model.safetensors"));

  EXPECT_EQ(learn("out", {"--features", folder_ / "features"}), 2);
  EXPECT_THAT(said(), HasSubstr("--features requires --teacher"));
  EXPECT_EQ(learn("out", {"--teacher", kModel}), 2);
  EXPECT_THAT(said(), HasSubstr("name --data, shards, or --features"));
  std::vector<std::string> both = features;
  both.insert(both.end(), {"--data", folder_ / "shard"});
  EXPECT_EQ(learn("out", both), 2);
  std::vector<std::string> held_out = features;
  held_out.insert(held_out.end(), {"--held-out", folder_ / "shard"});
  EXPECT_EQ(learn("out", held_out), 2);
  EXPECT_THAT(said(), HasSubstr("leave --held-out out"));
}

TEST_F(SlipstreamTrain, BeginsWithTheLayersThatItKeeps) {
  ASSERT_EQ(run({"run", "--out", folder_ / "kept", "--data", folder_ / "shard", "--model", kModel, "--length", "32", "--batch",
                 "2", "--micro-batch", "2", "--steps", "1", "--threads", "1", "--keep-layers", "1"}),
            0)
      << said();
  EXPECT_EQ(read_llama_config(folder_ / "kept/model").value().layers, 1);
}

TEST_F(SlipstreamTrain, CollectsOnlyWhatIsMissing) {
  folder_.write("chats.jsonl", chats(40));
  const std::vector<std::string> collect{
      "collect", "--documents", folder_ / "chats.jsonl", "--out", folder_ / "features", "--model", kModel, "--threads", "1"};
  ASSERT_EQ(run(collect), 0) << said();
  EXPECT_THAT(said(), HasSubstr("1 shards of 40 chats"));
  const std::string before = folder_.read("features/features-00000.shard");
  const auto written = std::filesystem::last_write_time(folder_ / "features/features-00000.shard");
  ASSERT_EQ(run(collect), 0) << said();
  EXPECT_EQ(std::filesystem::last_write_time(folder_ / "features/features-00000.shard"), written);
  folder_.write("features/features-00000.shard", before.substr(0, before.size() / 2));  // a disk that lost its end
  ASSERT_EQ(run(collect), 0) << said();
  EXPECT_TRUE(folder_.read("features/features-00000.shard") == before);
  folder_.write("features/features-00001.shard", before);  // of an earlier collection, of more chats
  ASSERT_EQ(run(collect), 0) << said();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "features/features-00001.shard")) << "it would be trained on";
  folder_.write("chats.jsonl", chats(41));
  ASSERT_EQ(run(collect), 0) << said();
  EXPECT_GT(folder_.read("features/features-00000.shard").size(), before.size());
}

TEST_F(SlipstreamTrain, AHeadThatWasKilledEndsWithTheBitsOfAnUnbrokenOne) {
  folder_.write("chats.jsonl", chats(60));
  ASSERT_EQ(run({"collect", "--documents", folder_ / "chats.jsonl", "--out", folder_ / "features", "--model", kModel}), 0)
      << said();
  const auto head = [&](const std::string& out) {
    return std::vector<std::string>{"head",
                                    "--out",
                                    folder_ / out,
                                    "--data",
                                    folder_ / "features",
                                    "--model",
                                    kModel,
                                    "--draft-vocabulary",
                                    "32",
                                    "--steps",
                                    "60",
                                    "--batch",
                                    "2",
                                    "--warmup-steps",
                                    "5",
                                    "--checkpoint-steps",
                                    "10",
                                    "--threads",
                                    "2",
                                    "--bf16"};
  };
  ASSERT_EQ(run(head("whole")), 0) << said();
  EXPECT_THAT(said(), HasSubstr("accepted by depth"));
  for (const int64_t step : {3, 25}) {
    const pid_t child = start(head("cut"));
    wait_for_step("cut", step);
    ::kill(child, SIGKILL);
    ASSERT_EQ(wait(child), -SIGKILL) << said();
  }
  ASSERT_EQ(run(head("cut")), 0) << said();
  EXPECT_THAT(said(), HasSubstr("going on after step"));
  for (const char* file : {"checkpoint.safetensors", "losses.tsv", "model/model.safetensors", "model/config.json"}) {
    const std::string whole = folder_.read(std::string("whole/") + file);
    EXPECT_FALSE(whole.empty());
    EXPECT_TRUE(whole == folder_.read(std::string("cut/") + file)) << file;
  }
}

// From chats to a draft head with an acceptance head that the target loads; two runs give one hash.
TEST_F(SlipstreamTrain, AnAcceptanceHeadIsTrainedTwiceToTheSameBitsAndServed) {
  folder_.write("chats.jsonl", chats(60));
  const std::string documents = folder_ / "chats.jsonl", head = folder_ / "head/model";
  ASSERT_EQ(run({"collect", "--documents", documents, "--out", folder_ / "features", "--model", kModel}), 0) << said();
  ASSERT_EQ(run({"head", "--out", folder_ / "head", "--data", folder_ / "features", "--model", kModel, "--draft-vocabulary",
                 "32", "--steps", "60", "--batch", "4", "--warmup-steps", "5"}),
            0)
      << said();
  const auto trained = [&] {
    for (const std::string temperature : {"0", "1"}) {
      EXPECT_EQ(run({"trace", "--documents", documents, "--head", head, "--model", kModel, "--out",
                     folder_ / ("trace" + temperature), "--temperature", temperature, "--answer-tokens", "12", "--depth", "3"}),
                0)
          << said();
      EXPECT_THAT(said(), HasSubstr("drafts of 60 answers; accepted by depth"));
    }
    EXPECT_EQ(run({"acceptance",
                   "--head",
                   head,
                   "--traces",
                   folder_ / "trace0",
                   folder_ / "trace1",
                   "--layers",
                   "0",
                   "1",
                   "--reject-weights",
                   "1",
                   "6",
                   "--epochs",
                   "2",
                   "--batch",
                   "64",
                   "--replay",
                   folder_ / "trace1",
                   "--predictions",
                   folder_ / "predictions",
                   "--threads",
                   "1"}),
              0)
        << said();
    EXPECT_THAT(said(), HasSubstr("kept: D"));
    return folder_.read("head/model/acceptance/model.safetensors") + folder_.read("predictions/trace1.tsv");
  };
  const std::string once = trained();
  EXPECT_THAT(once, HasSubstr("chat\tfrom\tdepth\tmatched\tentropy\tconfidence\tD0w1\tD0w6\tD1w1\tD1w6"));
  EXPECT_TRUE(once == trained());
  const auto model = load_alone(kModel, {}, {.cache_blocks = 4, .head = head});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_TRUE(model->predicts_acceptance());
}

// From chats to a small model with an acceptance head, which a drafter loads.
TEST_F(SlipstreamTrain, AnAcceptanceHeadOfASmallModelIsTrainedAndServed) {
  folder_.write("chats.jsonl", chats(60));
  ASSERT_EQ(run(training("small", {"--steps", "3"})), 0) << said();
  const std::string documents = folder_ / "chats.jsonl", small = folder_ / "small/model", trace = folder_ / "trace";
  ASSERT_EQ(run({"trace", "--documents", documents, "--draft-model", small, "--model", kModel, "--out", trace,
                 "--answer-tokens", "12", "--depth", "3"}),
            0)
      << said();
  ASSERT_EQ(run({"acceptance", "--draft-model", small, "--traces", trace, "--epochs", "2", "--batch", "64"}), 0) << said();
  EXPECT_THAT(said(), HasSubstr("kept: D1w1 in " + small + "/acceptance"));
  const auto model = load_alone(small, {}, {.cache_blocks = 4, .ranked = 1, .acceptance = true});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_TRUE(model->predicts_acceptance());
  EXPECT_NE(run({"acceptance", "--draft-model", small, "--head", small, "--traces", trace}), 0);
  EXPECT_NE(run({"acceptance", "--traces", trace}), 0);
}

TEST_F(SlipstreamTrain, RefusesChatsAndFeaturesThatDoNotFit) {
  const auto collected = [&](const std::string& text) {
    folder_.write("chats.jsonl", text);
    EXPECT_EQ(run({"collect", "--documents", folder_ / "chats.jsonl", "--out", folder_ / "features", "--model", kModel}), 1);
    return said();
  };
  for (const char* bad : {"[{\"token_ids\": [1, 64], \"answer\": 1}]\n", "[{\"token_ids\": [1, 2], \"answer\": 2}]\n",
                          "[{\"token_ids\": [1, 2]}]\n", "{}\n", "[7]\n"}) {
    EXPECT_THAT(collected(chats(2) + bad), HasSubstr("line 3 is no list of chats")) << bad;
  }
  EXPECT_THAT(collected("[{"), HasSubstr("has no chats"));
  EXPECT_EQ(run({"head", "--out", folder_ / "out", "--data", folder_ / "none", "--model", kModel}), 1);
  EXPECT_THAT(said(), HasSubstr("cannot read the folder"));
}

TEST_F(SlipstreamTrain, RefusesAFolderThatAnotherTrainingWrites) {
  const pid_t child = start(training("out", {"--steps", "100000"}));
  wait_for_step("out", 1);
  EXPECT_EQ(run(training("out")), 1);
  EXPECT_THAT(said(), HasSubstr("another training writes to"));
  ::kill(child, SIGKILL);
  wait(child);
}

}  // namespace
}  // namespace slipstream::train
