#include <mutex>

#include "common/checkpoint/fingerprint.h"
#include "common/corpus/corpus.h"
#include "tools/slipstream/commands.h"
#include "tools/slipstream/corpus/answers_file.h"
#include "tools/slipstream/corpus/overlap.h"
#include "tools/slipstream/fleet_plan.h"
#include "tools/slipstream/verify/prompts.h"
#include "tools/slipstream/verify/question_pool.h"

namespace slipstream::command {
namespace {

using verify::read_prompts;

// The prompts that are still to be asked, each once.
Result<std::vector<std::string>> prompts_to_ask(const CorpusOptions& options, const AnswersFile& answers) {
  Overlap overlap;
  for (const auto& file : options.exclude) {
    TRY(const std::vector<std::string> excluded, read_prompts(file));
    for (const std::string& prompt : excluded) overlap.exclude(prompt);
  }
  TRY(const std::vector<std::string> given, read_prompts(options.prompts));
  std::vector<std::string> prompts;
  size_t left_out = 0;
  for (const std::string& prompt : given) {
    if (overlap.meets(prompt)) {
      ++left_out;
    } else if (!answers.has(prompt)) {
      prompts.push_back(prompt);
    }
  }
  if (left_out > 0)
    fmt::print("left out {} prompts: they share {} words in a row with one of --exclude\n", left_out, kOverlapWords);
  return prompts;
}

// The answers go into the file as they come.
Result<void> ask_all(const CorpusOptions& options, AnswersFile& answers) {
  TRY(const std::vector<std::string> prompts, prompts_to_ask(options, answers));
  TRY(const verify::ServerUnderTest server, verify::probe({.url = options.url, .model = "", .api_key = options.api_key}));
  if (!server.slipstream()) return fail("{} is no Slipstream server, so it sends no token ids", options.url);
  const verify::ServerPair servers{server, server};
  fmt::print("asking {} prompts of {}, model {}; {} answers are there already\n", prompts.size(), server.url.text(),
             server.model.name, answers.answers());
  verify::Progress progress("answers", prompts.size());
  std::mutex mutex;  // guards answers
  return verify::QuestionPool{servers, options.streams}.run(
      prompts.size(), progress, [&](verify::ClientPair& clients, size_t at) -> Result<void> {
        const verify::Query query{.prompt = prompts[at], .tokens_max = options.tokens_max};
        TRY(const Answer answer, verify::ask(clients.reference, server, query));
        std::lock_guard lock(mutex);
        return answers.add(prompts[at], answer.ids);
      });
}

}  // namespace

Result<void> make_corpus(const CorpusOptions& options) {
  TRY(const std::filesystem::path model, find_model(options.model));
  TRY(const uint64_t tokenizer, hash_tokenizer(model));
  const std::filesystem::path beside = options.corpus.string() + ".answers.jsonl";
  const std::filesystem::path file = options.answers.empty() ? beside : options.answers;
  TRY(AnswersFile answers, AnswersFile::open(file));
  if (!options.prompts.empty()) TRY_VOID(ask_all(options, answers));
  if (answers.answers() == 0) {
    return fail("there is no answer in {}: name prompts to ask with --prompts, or the file of answers with --answers",
                file.string());
  }
  TRY_VOID(write_corpus(options.corpus, tokenizer, answers.tokens()));
  fmt::print("{} holds {} answers, {} tokens; give it to `slipstream serve --look-up-corpus`\n", options.corpus.string(),
             answers.answers(), answers.tokens().size() - answers.answers());
  return {};
}

}  // namespace slipstream::command
