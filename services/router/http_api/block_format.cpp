#include "services/router/http_api/block_format.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "services/router/http_api/answer_facts.h"
#include "services/router/http_api/json_text.h"
#include "services/router/http_api/tree_facts.h"

namespace slipstream {
namespace {

constexpr std::string_view kSpaces = " \t\r\n";

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::string BlockFormat::whole(const AnswerState& state) {
  read(state.first());
  return dump(answer(state));
}

std::string BlockFormat::news(int index, const AnswerState& state) {
  std::string out = read(state[index]);
  if (state.ended()) out += ended(state);
  return out;
}

std::string BlockFormat::read(const Choice& choice) {
  if (const TokenFacts* tokens = choice.facts().tokens) {
    append(tokens_.ids, tokens->ids);
    append(tokens_.drafted, tokens->drafted);
    append(tokens_.depths, tokens->depths);
    append(tokens_.ranks, tokens->ranks);
    append(tokens_.pieces, tokens->pieces);
  }
  if (const std::vector<TreeFacts>* trees = choice.facts().trees) {
    append(trees_, *trees);
    keep_newest(trees_, choice.trees_most());
  }
  std::string out = add_reasoning(choice);
  size_t told = 0;  // of the text
  for (const ToolCall& call : choice.calls()) {
    out += add_text(choice, told, call.text_before);
    told = call.text_before;
    out += add_call(call);
  }
  out += add_text(choice, told, choice.text().size());
  if (choice.ended() && open_) {
    blocks_.back().cut = choice.reason() == "length" || blocks_.back().kind == Kind::call;
    out += close();
  }
  return out;
}

std::string BlockFormat::add_call(const ToolCall& call) {
  std::string out;
  if (call.begins) {
    out += close();
    out += open({.kind = Kind::call, .text = {}, .tool = call.name});
  }
  if (!call.arguments.empty()) out += grow(call.arguments);
  if (call.ends) out += close();
  return out;
}

std::string BlockFormat::add_reasoning(const Choice& choice) {
  if (choice.reasoning().empty()) return {};
  std::string out = open_ ? "" : open({.kind = Kind::reasoning, .text = {}});
  return out += grow(choice.reasoning());
}

// White space alone makes no block: models write line breaks between calls. But it may be all that
// an answer has.
std::string BlockFormat::add_text(const Choice& choice, size_t told, size_t end) {
  if (told == end) return {};
  const std::string_view text = std::string_view(choice.text()).substr(told, end - told);
  std::vector<LogprobFacts> logprobs;
  if (const std::vector<LogprobFacts>* all = choice.facts().text) {
    std::ranges::copy_if(*all, std::back_inserter(logprobs),
                         [&](const LogprobFacts& each) { return each.text_end > told && each.text_end <= end; });
  }
  if (open_ && blocks_.back().kind == Kind::text) return grow(text, std::move(logprobs));
  space_ += text;
  append(space_logprobs_, logprobs);
  const bool nothing_else = choice.ended() && blocks_.empty() && choice.calls().empty();
  if (space_.find_first_not_of(kSpaces) == std::string::npos && !nothing_else) return {};
  const std::string all = std::exchange(space_, {});
  logprobs = std::exchange(space_logprobs_, {});
  std::string out = close();
  out += open({.kind = Kind::text, .text = {}});
  return out += grow(all, std::move(logprobs));
}

std::string BlockFormat::open(Block block) {
  block.index = blocks_.size();
  space_.clear();
  space_logprobs_.clear();
  open_ = true;
  return opened(blocks_.emplace_back(std::move(block)));
}

std::string BlockFormat::grow(std::string_view added, std::vector<LogprobFacts> logprobs) {
  Block& block = blocks_.back();
  block.text += added;
  append(block.logprobs, logprobs);
  return grew(block, added, logprobs);
}

std::string BlockFormat::close() { return std::exchange(open_, false) ? closed(blocks_.back()) : ""; }

std::string BlockFormat::call_id(std::string_view prefix, const Block& block) const {
  return fmt::format("{}_{}_{}", prefix, head_.stem, block.index);
}

void BlockFormat::add_facts(Json& answer, const AnswerState& state) const {
  answer["metrics"] = metrics_json(state.totals(), head_.draft_nodes_max);
  answer["slipstream"] = slipstream_json(head_);
  answer["slipstream"]["speculation"] = speculation_json(head_, state.first());
  if (!tokens_.ids.empty()) answer["slipstream"].update(tokens_json(tokens_));
  if (state.first().trees_most() > 0) answer["slipstream"]["trees"] = trees_json(trees_);
}

}  // namespace slipstream
