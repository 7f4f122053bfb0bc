#include "common/drafting/make_method.h"

#include "common/base/log.h"
#include "common/base/names.h"
#include "common/checkpoint/fingerprint.h"
#include "common/config/model_name.h"
#include "common/drafting/ngram.h"
#include "common/drafting/small_lm.h"
#include "common/model/cpu/cpu_device.h"

namespace slipstream {
namespace {

Result<std::unique_ptr<Method>> make_small_lm(const DrafterOptions& options, const Fingerprint& target) {
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
  const CpuOptions computes{.threads = static_cast<int>(options.threads_or_quota()),
                            .path = cpu_path(options.path),              // "auto" names none
                            .weights = weight_format(options.weights)};  // nor does "file"
  TRY(std::shared_ptr<Device> device, make_cpu_device(computes));
  const SmallLmOptions wanted{.folder = folder,
                              .name = model_name(folder),
                              .device = std::move(device),
                              .cache_tokens = static_cast<int32_t>(options.cache_tokens),
                              .vocabulary = target.vocabulary,
                              .siblings_max = static_cast<int>(options.siblings)};
  log_info("loading {}", folder);
  TRY(std::unique_ptr<SmallLm> method, SmallLm::load(wanted));
  log_info("{}", method->model().load_report().summary());
  log_info("{} on {} threads, context {}, cache {} tokens", method->model().numerics_id(), computes.threads,
           method->model().config().context_max, wanted.cache_tokens);
  return method;
}

}  // namespace

Result<std::unique_ptr<Method>> make_method(const DrafterOptions& options, const Fingerprint& target,
                                            std::shared_ptr<LookUpTexts> texts) {
  if (options.method == kSmallLm) return make_small_lm(options, target);
  return std::make_unique<NgramMethod>(std::move(texts));
}

}  // namespace slipstream
