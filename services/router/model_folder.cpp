#include "services/router/model_folder.h"

#include <filesystem>
#include <utility>

#include "common/checkpoint/fingerprint.h"
#include "common/checkpoint/hf_config.h"

namespace slipstream {

Result<ModelFolder> read_model_folder(const RouterOptions& options) {
  const std::filesystem::path folder = options.model;
  TRY(const LlamaConfig model, read_llama_config(folder));
  TRY(const uint64_t tokenizer_hash, hash_tokenizer(folder));
  TRY(Tokenizer tokenizer, Tokenizer::load(folder / "tokenizer.json"));
  TRY(ChatTemplate chat_template, ChatTemplate::load(folder));
  RouterConfig config{.fingerprint = {tokenizer_hash, model.vocabulary, model.eos_ids, 0},
                      .context_max = model.context_max,
                      .lease_ms = options.lease_ms,
                      .verifier_stuck_ms = options.verifier_stuck_ms,
                      .rebalance_ms = options.rebalance_ms};
  config.trusted = options.trust_list();
  config.trust_local = std::erase(config.trusted, "local") > 0;
  config.tuning.deadline_us = options.deadline_us;
  config.tuning.nodes_max = static_cast<uint16_t>(options.nodes_max);
  ServedModel served{.name = options.served_name(),
                     .tokenizer = std::move(tokenizer),
                     .chat_template = std::move(chat_template),
                     .vocabulary = model.vocabulary,
                     .end_ids = model.eos_ids,
                     .context_max = model.context_max,
                     .draft_nodes_max = config.tuning.nodes_max,
                     .rules = options.rule_list()};
  return ModelFolder{std::move(served), std::move(config)};
}

}  // namespace slipstream
