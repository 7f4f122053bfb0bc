#include "tools/slipstream/doctor/model.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/base/device_name.h"
#include "common/base/file_lock.h"
#include "common/checkpoint/checkpoint.h"
#include "common/checkpoint/fingerprint.h"
#include "common/checkpoint/head_config.h"
#include "common/config/byte_size.h"
#include "common/config/look_up_file.h"
#include "common/config/service_options.h"
#include "common/corpus/corpus.h"
#include "common/drafting/tenant_file.h"
#include "common/kv/block_pool.h"
#include "common/model/cpu/cpu_device.h"
#include "common/model/heads/eagle_head.h"
#include "common/model/language_model.h"
#include "common/model/llama.h"
#include "common/model/torch_options.h"
#include "common/model_text/read_chat_template.h"
#include "common/model_text/read_tokenizer.h"
#include "kernels/cpu/panels.h"

namespace slipstream::command::doctor {
namespace {

constexpr double kMegabyte = 1e6;

Result<ModelFacts> read_facts(const std::filesystem::path& given, std::string& found) {
  ModelFacts facts;
  TRY(facts.path, find_model(given));
  TRY(facts.config, read_llama_config(facts.path));
  TRY(const Checkpoint checkpoint, Checkpoint::open(facts.path));
  TRY_VOID(Llama::check_weights(checkpoint, facts.config));
  facts.bytes_as_stored = static_cast<double>(checkpoint.bytes());
  TRY(facts.weights, hash_weights(facts.path, facts.config));
  found = fmt::format("{}: {} layers, context {}, {:.0f} MB, weights {:016x}", facts.path.string(), facts.config.layers,
                      facts.config.context_max, facts.bytes_as_stored / kMegabyte, facts.weights);
  return facts;
}

// The tokenizer and the chat template, which the router reads.
Result<void> check_text(ModelFacts& facts, Findings& findings) {
  TRY(facts.tokenizer, hash_tokenizer(facts.path));
  TRY_VOID(read_tokenizer(facts.path));
  findings.push_back(ok("tokenizer", fmt::format("{} tokens, hash {:016x}", facts.config.vocabulary, facts.tokenizer)));
  const auto chat = read_chat_template(facts.path);
  findings.push_back(chat ? ok("template", "the model's own chat template is there")
                          : failed("template", chat.error().message, "take the instruct or chat version of the model"));
  return {};
}

// What a device of torch keeps numbers in; nullopt: the cpu device, or weights that torch's has
// not, which the services say.
std::optional<Type> torch_type(const FleetOptions& options) {
  const auto device = device_name(options.device);
  if (!device || device->kind == DeviceKind::cpu) return std::nullopt;
  const auto torch = torch_options(*device, options.weights);
  return torch ? std::optional(torch->type) : std::nullopt;
}

// matrix: bytes of a matrix of so many rows and columns.
template <class Matrix>
double weights_bytes(const LlamaConfig& config, const Matrix& matrix) {
  const int32_t query = config.heads * config.head_size, key = config.kv_heads * config.head_size;
  const double layer = matrix(query + 2 * key, config.hidden) + matrix(config.hidden, query) +
                       matrix(2 * config.intermediate, config.hidden) + matrix(config.hidden, config.intermediate);
  const double ends = (config.tied_embeddings ? 1 : 2) * matrix(config.vocabulary, config.hidden);
  return config.layers * layer + ends;
}

// Of the weights as --weights makes them on that device.
double weights_bytes(const ModelFacts& model, const FleetOptions& options) {
  if (const auto format = weight_format(options.weights)) {
    return weights_bytes(model.config, [&](int32_t rows, int32_t columns) {
      return static_cast<double>(panels_of(rows)) * static_cast<double>(panel_bytes(*format, columns));
    });
  }
  const auto type = torch_type(options);
  if (!type || options.weights == kSmallWeights) return model.bytes_as_stored;
  return weights_bytes(model.config, [&](int32_t rows, int32_t columns) {
    return static_cast<double>(rows) * columns * static_cast<double>(bytes_of(*type));
  });
}

Finding check_draft_model(const std::filesystem::path& path, const ModelFacts& target) {
  const auto tokenizer = hash_tokenizer(path);
  if (!tokenizer) return failed("draft model", tokenizer.error().message);
  if (*tokenizer == target.tokenizer) return ok("draft model", path.string() + ": the target's tokenizer");
  return failed("draft model", path.string() + " has another tokenizer than the model", "take one of the model's own family");
}

Finding check_head(const std::filesystem::path& folder, const ModelFacts& target) {
  const auto head = read_head_config(folder);
  if (!head) return failed("draft head", head.error().message, "train one (slipstream-train), or leave --head out");
  const auto fits = head_fits(*head, target.config, target.weights, folder.string());
  return fits ? ok("draft head", folder.string()) : failed("draft head", fits.error().message);
}

// Of the layer of the model's draft head, if it has one that can be read.
std::optional<LlamaConfig> head_layer(const ModelFacts& model, const FleetOptions& options) {
  const std::filesystem::path folder = head_folder(model.path.string(), options.head);
  if (folder.empty()) return std::nullopt;
  const auto head = read_head_config(folder);
  return head ? std::optional(head->layer) : std::nullopt;
}

// Of a model's cache, its draft head's share included.
size_t block_bytes(const LlamaConfig& config, const std::optional<LlamaConfig>& head, const FleetOptions& options) {
  const CpuPath path = cpu_path(options.path).value_or(best_cpu_path());
  const auto torch = torch_type(options);
  const auto of = [&](const LlamaConfig& network, int32_t layers) {
    const AttentionShape shape{.heads = network.heads, .kv_heads = network.kv_heads, .head_size = network.head_size};
    return torch ? torch_cache_bytes(*torch, layers, shape, 1) : cpu_cache_bytes(path, layers, shape, 1);
  };
  return of(config, config.layers) + (head ? of(*head, 1) + cpu_plane_bytes(head->hidden, 1) : 0);
}

// Of the cache's memory, as the options say it. block: bytes of a block
uint64_t cache_bytes(size_t block, const FleetOptions& options) {
  if (!options.cache_memory.empty()) return byte_size(options.cache_memory).value_or(0);
  return options.cache_tokens.value_or(kCacheTokensDefault) / kBlockTokens * block;
}

double need_of(const ModelFacts& model, const std::optional<LlamaConfig>& head, const FleetOptions& options) {
  return weights_bytes(model, options) + static_cast<double>(cache_bytes(block_bytes(model.config, head, options), options));
}

}  // namespace

std::optional<ModelFacts> check_model(const std::filesystem::path& model, Findings& findings) {
  std::string found;
  auto facts = read_facts(model, found);
  if (!facts) {
    findings.push_back(failed("model", facts.error().message));
    return std::nullopt;
  }
  findings.push_back(ok("model", found));
  if (const auto text = check_text(*facts, findings); !text)
    findings.push_back(failed("tokenizer", text.error().message, "fetch the model again, with all its files"));
  return *std::move(facts);
}

void check_drafting_files(const FleetOptions& options, const ModelFacts& target, Findings& findings) {
  if (!options.draft_model.empty()) findings.push_back(check_draft_model(options.draft_model, target));
  const std::filesystem::path head = head_folder(target.path.string(), options.head);
  if (!head.empty()) findings.push_back(check_head(head, target));
  if (const auto there = check_head_is_there(options); !there) findings.push_back(failed("draft head", there.error().message));
  for (const std::string& path : options.corpora) {
    const auto corpus = Corpus::open(path, target.tokenizer, target.config.vocabulary);
    findings.push_back(corpus ? ok("corpus", fmt::format("{}: {} tokens", path, corpus->tokens()))
                              : failed("corpus", corpus.error().message));
  }
}

Finding check_answers(const FleetOptions& options, const ModelFacts& target, bool ours) {
  constexpr const char* kWhat = "look-up file";
  const std::string& path = options.look_up_file;
  if (ours && FileLock::is_held(path)) return ok(kWhat, fmt::format("{}: the running server has it", path));
  if (const auto usable = check_look_up_file(path); !usable) return failed(kWhat, usable.error().message);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return ok(kWhat, fmt::format("{}: a server that stops will make it", path));
  const auto texts = read_tenant_file(path, target.tokenizer, target.config.vocabulary);
  if (texts) {
    int64_t tokens = 0;
    texts->each(
        [&](TenantId, std::span<const TokenId> text) { tokens += std::ssize(text) - std::ranges::count(text, kTextEnd); });
    return ok(kWhat, fmt::format("{}: {} tokens of earlier answers", path, tokens));
  }
  return warn(kWhat, texts.error().message,
              fmt::format("or let `slipstream serve` rename it to {}.unusable and begin without earlier answers", path));
}

Finding check_cache(const FleetOptions& options, const ModelFacts& model) {
  const LlamaConfig& config = model.config;
  const size_t block = block_bytes(config, head_layer(model, options), options);
  const uint64_t bytes = cache_bytes(block, options);
  const uint64_t tokens = bytes / block * kBlockTokens;
  const std::string found =
      fmt::format("room for {} tokens in {}, {} bytes each", tokens, byte_size_words(bytes), block / kBlockTokens);
  if (tokens < kCacheTokensRange.low) {
    return failed("cache", found, fmt::format("--cache-memory {}MiB or more", (block * kCacheBlocksMin >> 20) + 1));
  }
  const uint32_t asked = options.context_max.value_or(0);
  const auto context =
      asked > 0 ? std::min(asked, static_cast<uint32_t>(config.context_max)) : static_cast<uint32_t>(config.context_max);
  if (tokens >= context + kTreeNodesMax + 1) return ok("cache", found);
  return warn("cache", fmt::format("{}: fewer than a sequence of {} needs", found, context),
              fmt::format("--cache-memory {}MiB or more, if such long prompts come",
                          ((context + kTreeNodesMax) / kBlockTokens + 1) * block / (1 << 20) + 1));
}

double memory_need(const FleetOptions& options, const ModelFacts& target) {
  const double need = need_of(target, head_layer(target, options), options);
  if (network_of(options.drafter) != DraftNetwork::model) return need;
  if (options.draft_model.empty()) return 2 * need;  // the model drafts for itself
  std::string ignored;
  const auto draft = read_facts(options.draft_model, ignored);
  return need + (draft ? need_of(*draft, std::nullopt, options) : 0);
}

std::string_view fewer_bits(const FleetOptions& options) {
  const auto device = device_name(options.device);
  if (!device) return "";
  const std::string_view least = device->kind == DeviceKind::torch_cpu ? "bf16" : "q4_0";
  return options.weights == least || options.weights == "f16" ? "" : least;
}

}  // namespace slipstream::command::doctor
