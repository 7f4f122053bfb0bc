// Words to tokens and back, out of a GGUF file's metadata: as out of the Hugging Face folder of the
// same model.
#include "services/router/model_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/text/chat_prompt.h"
#include "common/text/detokenizer.h"
#include "common/text/utf8.h"
#include "tests/data/gguf_of_folder.h"
#include "tests/data/sentencepiece_gguf.h"
#include "tests/unit/common/checkpoint/gguf/small_gguf.h"
#include "tests/unit/common/text/golden.h"

namespace slipstream {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// The configuration of a model of few weights.
GgufWriter small_config() {
  GgufWriter writer;
  writer.text("general.architecture", "llama").u32("llama.block_count", 1).u32("llama.context_length", 64);
  writer.u32("llama.embedding_length", 32).u32("llama.feed_forward_length", 32).u32("llama.attention.head_count", 2);
  writer.f32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  return writer;
}

// It with the words of the small tokenizer's folder, and the pre-tokenizer of that name.
GgufWriter small_model(const std::string& pre, const std::filesystem::path& words = data_folder()) {
  const auto vocabulary = static_cast<uint64_t>(Tokenizer::load(words / "tokenizer.json")->vocabulary());
  GgufWriter writer = small_config();
  writer.u32("tokenizer.ggml.eos_token_id", 2);
  GgufOfFolder::add_words(writer, words, pre);
  add_small_tensors(writer, vocabulary);
  return writer;
}

// It with the pieces of a SentencePiece model of tests/data/sentencepiece.
GgufWriter sentence_piece_model(const json& pieces) {
  GgufWriter writer = small_config();
  add_sentencepiece_words(writer, pieces);
  writer.text("tokenizer.chat_template", "{{ bos_token }}[INST] {{ messages[0].content }} [/INST]");
  add_small_tensors(writer, pieces.at("tokens").size());
  return writer;
}

class ModelFolderTest : public testing::Test {
 protected:
  Result<ModelFolder> read(const GgufWriter& writer) {
    return read_model_folder(RouterOptions{{.model = folder_.write("small.gguf", writer.bytes()).string()}});
  }
  // The small tokenizer's folder with the tokens of several digits that make_data.py adds for these
  // golden ids.
  std::filesystem::path words_with_digits() const {
    json tokenizer = json::parse(std::ifstream(data_folder() / "tokenizer.json"));
    json &vocabulary = tokenizer["model"]["vocab"], &merges = tokenizer["model"]["merges"];
    for (const auto& added : tokenizer["added_tokens"]) vocabulary[added["content"].get<std::string>()] = added["id"];
    for (const auto& merge : golden("merges", "pre_tokenizer_golden.json")) {
      vocabulary.emplace(merge[0].get<std::string>() + merge[1].get<std::string>(), vocabulary.size());
      merges.push_back(merge);
    }
    folder_.write("tokenizer.json", tokenizer.dump());
    std::filesystem::copy(data_folder() / "tokenizer_config.json", folder_.path());
    return folder_.path();
  }
  TemporaryFolder folder_;
};

void expect_ids(const Tokenizer& tokenizer, const json& texts) {
  for (const auto& one : texts) {
    const std::string text = one["text"];
    const std::vector<TokenId> ids = one["ids"], plain = one["plain_ids"];
    EXPECT_EQ(tokenizer.encode(text, true).value(), ids) << one;
    EXPECT_EQ(tokenizer.encode(text, false).value(), plain) << one;
    EXPECT_EQ(lossy_utf8(tokenizer.decode(ids, true).value()), one["decoded"]) << one;
  }
}

TEST_F(ModelFolderTest, GivesHuggingFacesIdsForEachPreTokenizer) {
  const auto smollm = read(small_model("smollm"));
  ASSERT_TRUE(smollm.has_value()) << smollm.error().message;
  expect_ids(smollm->served.tokenizer, golden("texts"));
  const auto digits = words_with_digits();
  for (const char* pre : {"llama-bpe", "qwen2"}) {
    const auto model = read(small_model(pre, digits));
    ASSERT_TRUE(model.has_value()) << model.error().message;
    expect_ids(model->served.tokenizer, golden(pre, "pre_tokenizer_golden.json"));
  }
}

TEST_F(ModelFolderTest, RendersTheChatTemplateOfTheMetadata) {
  const auto model = read(small_model("smollm"));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  for (const auto& chat : golden("chatml")) {
    EXPECT_EQ(model->served.chat_template.render(messages_of(chat)).value(), chat["text"]);
    EXPECT_EQ(chat_prompt(model->served.tokenizer, model->served.chat_template, messages_of(chat)).value(),
              chat["ids"].get<std::vector<TokenId>>());
  }
}

TEST_F(ModelFolderTest, LetsATemplateAskForTheBeginningToken) {
  std::filesystem::copy(data_folder() / "tokenizer.json", folder_.path());
  std::filesystem::copy(data_folder() / "tokenizer_config.json", folder_.path());
  folder_.write("chat_template.jinja", "{{ bos_token }}|{{ messages[0].content }}|{{ eos_token }}");
  const auto model = read(small_model("smollm", folder_.path()));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const std::vector<ChatMessage> hello{{"user", "hello"}};
  EXPECT_EQ(model->served.chat_template.render(hello).value(), "<|im_start|>|hello|<|im_end|>");
}

TEST_F(ModelFolderTest, KnowsSpecialTokensAndThoseThatAreOnlyFound) {
  const auto model = read(small_model("smollm"));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Tokenizer &ours = model->served.tokenizer, folders = tiny_tokenizer();
  EXPECT_EQ(ours.vocabulary(), folders.vocabulary());
  for (TokenId id = 0; id < folders.vocabulary(); ++id) {
    EXPECT_EQ(ours.piece(id).value(), folders.piece(id).value());
    EXPECT_EQ(ours.is_special(id), folders.is_special(id));
  }
  EXPECT_THAT(std::vector<std::string>(ours.specials().begin(), ours.specials().end()),
              testing::UnorderedElementsAreArray(folders.specials().begin(), folders.specials().end()));
}

// What the sentencepiece package makes of the texts, with a space before each and byte tokens, and
// without.
TEST_F(ModelFolderTest, GivesTheTokensOfSentencePiece) {
  for (const char* which : {"with_bytes", "no_prefix", "without"}) {
    const json pieces = sentencepiece_golden(which);
    const auto model = read(sentence_piece_model(pieces));
    ASSERT_TRUE(model.has_value()) << model.error().message;
    for (const auto& one : pieces.at("texts")) {
      const std::vector<TokenId> ids = one["ids"];
      EXPECT_EQ(model->served.tokenizer.encode(one["text"].get<std::string>(), false).value(), ids) << which << ": " << one;
    }
    EXPECT_THAT(model->served.tokenizer.prefix(), testing::ElementsAre(1)) << "<s> begins a completion";
  }
}

// Byte tokens make up characters, and the space before the text is no part of it. Behind another
// text a token brings its space: what is streamed after a prompt continues the prompt's text.
TEST_F(ModelFolderTest, GivesTheTextOfSentencePiecesTokensBack) {
  const json pieces = sentencepiece_golden("with_bytes");
  const auto model = read(sentence_piece_model(pieces));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Tokenizer& tokenizer = model->served.tokenizer;
  for (const auto& one : pieces.at("texts")) {
    const std::vector<TokenId> ids = one["ids"];
    std::string written = one["text"];
    for (size_t at = written.find("\u2581"); at != written.npos; at = written.find("\u2581")) {
      written.replace(at, 3, " ");  // it means a space to them
    }
    EXPECT_EQ(tokenizer.whole_text(ids).value(), written);
    for (size_t cut = 0; cut <= ids.size(); ++cut) {
      std::string text = tokenizer.decode({ids.data(), cut}, true).value();
      text += tokenizer.decode({ids.data() + cut, ids.size() - cut}, true).value();
      EXPECT_EQ(text, ids.empty() ? "" : " " + written);
    }
  }
  Detokenizer detokenizer(tokenizer);
  std::string streamed;
  const std::vector<TokenId> words = tokenizer.encode("the 日", false).value();
  for (const TokenId id : words) streamed += detokenizer.push(id).value();
  EXPECT_EQ(streamed, " the 日");
  EXPECT_EQ(tokenizer.piece(tokenizer.id("<0x0A>").value()).value(), "\n");
  std::vector<TokenId> begun = tokenizer.encode("a", false).value();
  begun.insert(begun.begin(), tokenizer.prefix().front());
  EXPECT_EQ(tokenizer.whole_text(begun).value(), "<s>a");
}

// What goes on behind a text has the space that is written, and no other.
TEST_F(ModelFolderTest, PutsNoSpaceBeforeWhatGoesOnBehindAText) {
  const auto model = read(sentence_piece_model(sentencepiece_golden("with_bytes")));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Tokenizer& tokenizer = model->served.tokenizer;
  for (const std::string text : {"the", " the", R"({"a": 1})", "<s>"}) {
    EXPECT_EQ(tokenizer.decode(tokenizer.encode_inside(text).value(), true).value(), text);
  }
  EXPECT_EQ(tokenizer.encode_inside(" the").value(), tokenizer.encode("the", false).value());
  EXPECT_EQ(tiny_tokenizer().encode_inside("the a").value(), tiny_tokenizer().encode("the a", false).value());
}

// A user's text cannot begin a sequence.
TEST_F(ModelFolderTest, PutsTheBeginningOfAChatOnceAndUsersWordsAsText) {
  const json pieces = sentencepiece_golden("with_bytes");
  const auto model = read(sentence_piece_model(pieces));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  const Tokenizer& tokenizer = model->served.tokenizer;
  const std::vector<ChatMessage> chat{{"user", "say <s>"}};
  const auto prompt = chat_prompt(tokenizer, model->served.chat_template, chat).value();
  EXPECT_EQ(std::ranges::count(prompt, 1), 1);
  EXPECT_EQ(tokenizer.whole_text(prompt).value(), "<s>[INST] say <s> [/INST]");
}

TEST_F(ModelFolderTest, IsNamedAfterTheFileAndEndsWhereItSays) {
  const auto model = read(small_model("smollm"));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->served.offer.name(), "small");
  EXPECT_THAT(model->served.eos_ids, testing::ElementsAre(2));
  EXPECT_EQ(model->served.context_max, 64);
  EXPECT_EQ(model->config.fingerprint.eos_ids, model->served.eos_ids);
}

TEST_F(ModelFolderTest, NamesTheFileInWhatTheTokenizersLibraryRefuses) {
  const auto model = read(small_gguf({.merges = {"a nowhere"}}));
  ASSERT_FALSE(model.has_value());
  EXPECT_THAT(model.error().message, HasSubstr("small.gguf cannot be used as a tokenizer"));
}

// The folder's tokenizer.json was made of this very file by another implementation.
TEST(RealGgufWords, AreTheFolders) {
  const auto folder = source_folder() / "models/smollm2-135m-instruct",
             file = source_folder() / "models/smollm2-135m-instruct.gguf";
  if (!std::filesystem::exists(folder / "SHA256SUMS") || !std::filesystem::exists(file)) {
    GTEST_SKIP() << "make setup fetches " << file.string();
  }
  const auto ours = read_model_folder(RouterOptions{{.model = file.string()}}),
             folders = read_model_folder(RouterOptions{{.model = folder.string()}});
  ASSERT_TRUE(ours.has_value()) << ours.error().message;
  EXPECT_EQ(ours->config.fingerprint, folders->config.fingerprint);
  expect_ids(ours->served.tokenizer, golden("texts", "smollm2_golden.json"));
  for (const auto& chat : golden("chats", "smollm2_golden.json")) {
    EXPECT_EQ(chat_prompt(ours->served.tokenizer, ours->served.chat_template, messages_of(chat)).value(),
              chat["ids"].get<std::vector<TokenId>>());
  }
  for (TokenId id = 0; id < folders->served.tokenizer.vocabulary(); ++id) {
    const auto piece = folders->served.tokenizer.piece(id).value();
    EXPECT_EQ(ours->served.tokenizer.piece(id).value(), piece);
    EXPECT_EQ(ours->served.tokenizer.is_special(id), folders->served.tokenizer.is_special(id));
  }
  std::ifstream prompts(source_folder() / "tests/e2e/data/prompts.jsonl");
  for (std::string line; std::getline(prompts, line);) {
    const std::string text = json::parse(line).at("prompt");
    EXPECT_EQ(ours->served.tokenizer.encode(text, false).value(), folders->served.tokenizer.encode(text, false).value());
  }
}

}  // namespace
}  // namespace slipstream
