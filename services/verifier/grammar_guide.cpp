#include "services/verifier/grammar_guide.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace slipstream {
namespace {

// [nodes] the tokens from the root to each node, its own last.
std::vector<std::vector<TokenId>> paths(const TokenTree& tree) {
  std::vector<std::vector<TokenId>> paths;
  for (const TreeNode& node : tree.nodes()) {
    std::vector<TokenId> path = node.parent == kRoot ? std::vector<TokenId>() : paths[static_cast<size_t>(node.parent)];
    path.push_back(node.token);
    paths.push_back(std::move(path));
  }
  return paths;
}

}  // namespace

// The grammar, and the masks of this round. Thread-safe. A thread that needs a mask waits while
// another makes one of the same sequence.
class GrammarGuide::Shared {
 public:
  explicit Shared(Grammar grammar) : grammar_(std::move(grammar)) {}

  Result<void> advance(std::span<const TokenId> tokens) {
    std::lock_guard lock(mutex_);
    if (tokens.empty()) return {};
    masks_.clear();
    work_ns_ = 0;
    return grammar_.advance(tokens);
  }

  Result<void> why_unknown() {
    std::lock_guard lock(mutex_);
    const std::vector<TokenId> root;
    if (const auto known = masks_.find(root); known != masks_.end() && known->second != nullptr) return {};
    TRY(TokenMask allowed, make(root));
    masks_.insert_or_assign(root, std::make_shared<const TokenMask>(std::move(allowed)));
    return {};
  }

  uint64_t work_ns() const {
    std::lock_guard lock(mutex_);
    return work_ns_;
  }

  // Null: the path is forbidden, or the grammar is too complex behind it. That says nothing about
  // the output itself, unless the path is accepted.
  Mask behind(const std::vector<TokenId>& path) {
    std::lock_guard lock(mutex_);
    if (const auto known = masks_.find(path); known != masks_.end()) return known->second;
    Mask mask;
    if (auto behind = make(path)) mask = std::make_shared<const TokenMask>(*std::move(behind));
    return masks_.emplace(path, std::move(mask)).first->second;
  }

  // That mask, if it has been made.
  std::optional<Mask> made(const std::vector<TokenId>& path) const {
    std::lock_guard lock(mutex_);
    const auto known = masks_.find(path);
    return known == masks_.end() ? std::nullopt : std::optional(known->second);
  }

 private:
  Result<TokenMask> make(const std::vector<TokenId>& path) {
    Result<TokenMask> mask = grammar_.allowed_after(path);
    work_ns_ += grammar_.work_ns();
    return mask;
  }

  mutable std::mutex mutex_;  // guards the next three
  Grammar grammar_;
  std::map<std::vector<TokenId>, Mask> masks_;  // by path
  uint64_t work_ns_ = 0;
};

GrammarGuide::GrammarGuide(std::shared_ptr<const Grammar> grammar, std::vector<TokenId> ends)
    : grammar_(std::move(grammar)), shared_(std::make_shared<Shared>(grammar_->begun())), ends_(std::move(ends)) {}

Result<void> GrammarGuide::advance(std::span<const TokenId> tokens) { return shared_->advance(tokens); }

Result<void> GrammarGuide::follow(std::span<const TokenId> tokens) {
  TRY_VOID(advance(tokens));
  return why_unknown();
}

uint64_t GrammarGuide::work_ns() const { return shared_->work_ns(); }

Result<void> GrammarGuide::why_unknown() const { return shared_->why_unknown(); }

bool GrammarGuide::ends(TokenId token) const { return std::ranges::find(ends_, token) != ends_.end(); }

GrammarGuide::Mask GrammarGuide::allowed_after(std::span<const TokenId> path) {
  if (!path.empty()) {
    const Mask before = ends(path.back()) ? nullptr : allowed_after(path.first(path.size() - 1));
    if (before == nullptr || !before->allows(path.back())) return nullptr;
  }
  return shared_->behind({path.begin(), path.end()});
}

std::vector<std::shared_ptr<const RowMask>> GrammarGuide::masks(const TokenTree& tree) {
  std::vector<std::shared_ptr<const RowMask>> masks;
  const auto add = [&](std::vector<TokenId> path) {
    if (!path.empty() && ends(path.back())) return masks.push_back(nullptr);
    if (auto made = shared_->made(path)) return masks.push_back(std::make_shared<const RowMask>(*std::move(made)));
    masks.push_back(
        std::make_shared<const RowMask>([shared = shared_, path = std::move(path)] { return shared->behind(path); }));
  };
  add({});
  for (std::vector<TokenId>& path : paths(tree)) add(std::move(path));
  return masks;
}

// The mask behind a node is not needed for that, so a leaf's may be made while the step runs.
std::vector<int32_t> GrammarGuide::allowed_nodes(const TokenTree& tree) {
  std::vector<int32_t> nodes;
  const std::vector<std::vector<TokenId>> all = paths(tree);
  for (size_t node = 0; node < all.size(); ++node) {
    const std::span<const TokenId> path = all[node];
    const Mask before = allowed_after(path.first(path.size() - 1));
    if (before != nullptr && before->allows(path.back())) nodes.push_back(static_cast<int32_t>(node));
  }
  return nodes;
}

}  // namespace slipstream
