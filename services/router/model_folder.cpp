#include "services/router/model_folder.h"

#include <utility>

#include "common/base/names.h"
#include "common/checkpoint/fingerprint.h"
#include "common/checkpoint/llama_config.h"
#include "common/model_text/read_chat_template.h"
#include "common/model_text/read_tokenizer.h"
#include "services/router/sampling_defaults.h"

namespace slipstream {

Result<ModelFolder> read_model_folder(const RouterOptions& options) {
  TRY(const LlamaConfig model, read_llama_config(options.model));
  TRY(const uint64_t tokenizer_hash, hash_tokenizer(options.model));
  TRY(Tokenizer tokenizer, read_tokenizer(options.model));
  TRY(ChatTemplate chat_template, read_chat_template(options.model));
  const auto grammars = Grammars::make(tokenizer, model.eos_ids, model.vocabulary);
  RouterConfig config{.fingerprint = {tokenizer_hash, model.vocabulary, model.eos_ids, 0},
                      .context_max = model.context_max,
                      .lease_ms = options.lease_ms,
                      .verifier_stuck_ms = options.verifier_stuck_ms,
                      .queue_wait_ms = options.queue_wait_ms,
                      .rebalance_ms = options.rebalance_ms};
  config.trusted = options.trust_list();
  config.trust_local = std::erase(config.trusted, "local") > 0;
  config.tuning.deadline_us = options.deadline_us;
  config.tuning.nodes_max = static_cast<uint16_t>(options.nodes_max);
  config.tuning.threshold = static_cast<float>(options.threshold);
  config.tunes = options.tune == "on";
  TRY(const SamplingDefaults defaults, read_sampling_defaults(options));
  ServedModel served{.offer = {.names = options.served_names(),
                               .rules = options.rule_list(),
                               .defaults = defaults,
                               .ollama = options.ollama,
                               .strict = options.strict},
                     .tokenizer = std::move(tokenizer),
                     .chat_template = std::move(chat_template),
                     .grammars = grammars ? std::optional<Grammars>(*grammars) : std::nullopt,
                     .vocabulary = model.vocabulary,
                     .eos_ids = model.eos_ids,
                     .context_max = model.context_max,
                     .draft_nodes_max = config.tuning.nodes_max,
                     .grammar_wait_most = std::chrono::milliseconds(config.wait_most_ms()),
                     .one_tenant = options.tenants == kOneTenant,
                     .trace_share = options.otlp.empty() ? std::nullopt : std::optional(options.trace_share)};
  return ModelFolder{.served = std::move(served),
                     .config = std::move(config),
                     .prometheus = options.prometheus,
                     .vllm_metrics = options.metrics_compat == kVllmCompat};
}

}  // namespace slipstream
