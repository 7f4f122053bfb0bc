#include "common/drafting/draft_model.h"

#include "common/base/log.h"
#include "common/checkpoint/fingerprint.h"
#include "common/config/model_name.h"
#include "common/kv/block_pool.h"
#include "common/model/make_device.h"

namespace slipstream {

Result<DraftModelSource> find_draft_model(const DrafterOptions& options, const Fingerprint& target) {
  // Without a draft model of its own a drafter drafts with the target itself.
  const std::string& folder = options.draft_model.empty() ? options.model : options.draft_model;
  // Before anything is loaded: with another tokenizer every draft would be wrong, silently.
  TRY(const uint64_t tokenizer, hash_tokenizer(folder));
  if (tokenizer != target.tokenizer) {
    return fail(
        "the tokenizer of {} is not that of {}: its tokens would mean other words; choose a draft model of the target's own "
        "family, with the same tokenizer",
        folder, options.model);
  }
  TRY(std::shared_ptr<Device> device, make_device({.name = options.device_name(),
                                                   .threads = static_cast<int>(options.threads_or_quota()),
                                                   .path = options.path,
                                                   .weights = options.weights,
                                                   .deterministic = !options.fast_rows}));
  log_info("loading {}", folder);
  return DraftModelSource{.folder = folder, .name = model_name(folder), .device = std::move(device)};
}

void log_draft_model(const LanguageModel& model, const DrafterOptions& options) {
  log_info("{}", model.load_report().summary());
  log_info("{} on {} threads, context {}, cache {} tokens in {} MB{}", model.numerics_id(), options.threads_or_quota(),
           model.config().context_max, model.cache_blocks() * kBlockTokens, model.cache_bytes() / 1'000'000,
           model.predicts_acceptance() ? ", with an acceptance head" : "");
}

}  // namespace slipstream
