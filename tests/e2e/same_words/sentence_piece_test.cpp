// A model with a SentencePiece tokenizer through the real processes: its words are the same
// drafted, plain, streamed and whole, continue the text of the prompt, and may be held to a schema.
#include <filesystem>
#include <fstream>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/data/gguf_writer.h"
#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/fate_metrics.h"
#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

using nlohmann::json;

// A llama of one layer with random weights and the pieces of a small SentencePiece model.
void write_model(const std::filesystem::path& file) {
  constexpr uint64_t kHidden = 32;
  const auto data = std::filesystem::path(SLIPSTREAM_SOURCE_FOLDER) / "tests/unit/common/text/data/sentence_piece.json";
  const json pieces = json::parse(std::ifstream(data)).at("with_bytes");
  const auto tokens = pieces.at("tokens").get<std::vector<std::string>>();
  GgufWriter writer;
  writer.text("general.architecture", "llama").u32("llama.block_count", 1).u32("llama.context_length", 512);
  writer.u32("llama.embedding_length", kHidden).u32("llama.feed_forward_length", kHidden).u32("llama.attention.head_count", 2);
  writer.f32("llama.attention.layer_norm_rms_epsilon", 1e-5F).text("tokenizer.ggml.model", "llama");
  writer.texts("tokenizer.ggml.tokens", tokens).i32s("tokenizer.ggml.token_type", pieces.at("types"));
  std::string scores;
  for (const float score : pieces.at("scores").get<std::vector<float>>()) scores += GgufWriter::raw(score);
  writer.list("tokenizer.ggml.scores", GgufKind::f32, tokens.size(), scores);
  writer.u32("tokenizer.ggml.bos_token_id", 1).u32("tokenizer.ggml.eos_token_id", 2);
  writer.text("tokenizer.chat_template", "{{ bos_token }}[INST] {{ messages[0].content }} [/INST]");
  std::mt19937 random(4);
  const auto matrix = [&](const std::string& name, uint64_t rows) {
    std::normal_distribution<float> numbers(0, 0.3F);
    std::string bytes;
    for (uint64_t i = 0; i < rows * kHidden; ++i) bytes += GgufWriter::raw(numbers(random));
    writer.tensor(name + ".weight", 0, {rows, kHidden}, bytes);
  };
  matrix("token_embd", tokens.size());
  for (const char* name : {"output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"}) {
    std::string ones;
    for (uint64_t i = 0; i < kHidden; ++i) ones += GgufWriter::raw(1.0F);
    writer.tensor(std::string(name) + ".weight", 0, {kHidden}, ones);
  }
  for (const char* name : {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}) {
    matrix(std::string("blk.0.") + name, kHidden);
  }
  std::ofstream(file, std::ios::binary) << writer.bytes();
}

json post(Cluster& cluster, const std::string& path, const json& body) {
  const auto reply = cluster.client().post(path, body.dump());
  if (!reply || reply->status != 200) throw std::runtime_error(reply ? reply->body : reply.error().message);
  return json::parse(reply->body);
}

class SentencePiece : public testing::Test {
 protected:
  SentencePiece() { write_model(file_); }
  ~SentencePiece() override { std::filesystem::remove(file_); }

  std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) / "slipstream_sentence_piece.gguf";
};

TEST_F(SentencePiece, GivesTheSameWordsDraftedPlainStreamedAndWhole) {
  Cluster cluster(file_);
  cluster.start_all("ngram");
  std::vector<Question> questions = eight_questions(60);
  const std::vector<Answer> drafted = cluster.ask_all(questions, 4);
  EXPECT_GT(FateMetrics(cluster.settled_verifier()).received, 0);
  for (size_t i = 0; i < questions.size(); ++i) {
    Question plain = questions[i];
    plain.speculate = false;
    const Answer other = cluster.ask(plain);
    EXPECT_EQ(drafted[i].ids, other.ids);
    EXPECT_EQ(drafted[i].text, other.text);
    const json messages = {{{"role", "user"}, {"content", plain.text}}};
    json request = {{"messages", messages}, {"temperature", plain.temperature}, {"max_tokens", plain.tokens_max}};
    if (plain.seed) request["seed"] = *plain.seed;
    EXPECT_EQ(post(cluster, "/v1/chat/completions", request)["choices"][0]["message"]["content"], other.text);
    // The answer's tokens behind the prompt's are the prompt's text and then the answer's.
    if (std::ranges::any_of(other.ids, [](int32_t id) { return id <= 2; })) continue;  // special ones are not shown
    auto ids = post(cluster, "/tokenize", {{"messages", messages}})["tokens"].get<std::vector<int32_t>>();
    const std::string before = post(cluster, "/detokenize", {{"tokens", ids}})["prompt"];
    EXPECT_EQ(before, "<s>[INST] " + plain.text + " [/INST]");
    ids.insert(ids.end(), other.ids.begin(), other.ids.end());
    EXPECT_EQ(post(cluster, "/detokenize", {{"tokens", ids}})["prompt"], before + other.text);
  }
}

TEST_F(SentencePiece, KeepsToASchema) {
  Cluster cluster(file_);
  cluster.start_all("ngram");
  const json schema = json::parse(R"({"type": "object", "required": ["n", "s"], "additionalProperties": false,
      "properties": {"n": {"type": "integer", "minimum": 0, "maximum": 999}, "s": {"type": "string", "maxLength": 4}}})");
  for (int seed = 0; seed < 8; ++seed) {
    const json answer =
        post(cluster, "/v1/chat/completions",
             {{"messages", {{{"role", "user"}, {"content", "Tell me a number."}}}},
              {"temperature", 1},
              {"seed", seed},
              {"max_tokens", 200},
              {"response_format", {{"type", "json_schema"}, {"json_schema", {{"name", "x"}, {"schema", schema}}}}}});
    const json told = json::parse(answer["choices"][0]["message"]["content"].get<std::string>());
    EXPECT_TRUE(told["n"].is_number_integer() && told["s"].is_string()) << told;
  }
}

}  // namespace
}  // namespace slipstream::e2e
