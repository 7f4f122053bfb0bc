#include "tests/sim/client.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slipstream::sim {

namespace {

std::vector<float> scores_of(const std::vector<TokenId>& prompt, const ToyDistribution& distribution) {
  std::vector<float> scores;
  ToyContext context;
  for (size_t i = 0; i + 1 < prompt.size(); ++i) {
    context.add(prompt[i], static_cast<int32_t>(i));
    scores.push_back(distribution.logprob(context.hash()));
  }
  return scores;
}

// One of so many requests asks for draft trees, some for few.
constexpr RequestId kTreesEach = 3, kTreesFew = 8;
int32_t trees_of(RequestId id) { return id % kTreesEach == 0 ? 1 + static_cast<int32_t>(id % kTreesFew) : 0; }

}  // namespace

Client::Client(const Ask& ask, RequestId id, std::span<const ToyDistribution> distributions)
    : ask_(ask),
      id_(id),
      output_max_(ask.output_max > 0 ? ask.output_max : kToyContext - static_cast<int32_t>(ask.prompt.size())) {
  for (const ToyDistribution& distribution : distributions)
    truths_.push_back({ToyOracle(distribution, {ask.prompt, ask.sampling, ask.logits_params, ask.grammar, ask.seed}),
                       {},
                       scores_of(ask.prompt, distribution)});
}

Submit Client::submit(Time now) {
  state_ = State::asked;
  asked_ = heard_ = now;
  return {.request = id_,
          .prompt = ask_.prompt,
          .spec = {.sampling = ask_.sampling,
                   .logits_params = ask_.logits_params,
                   .seed = ask_.seed,
                   .grammar = ask_.grammar,
                   .output_max = ask_.output_max,
                   .stop_ids = ask_.stop_ids,
                   .prompt_logprobs = ask_.scores ? std::optional(0) : std::nullopt,
                   .trees = trees_of(id_)},
          .speculation = {.enabled = ask_.speculate, .acceptance = {.rule = ask_.rule}},
          .priority = ask_.priority};
}

Abandon Client::abandon() {
  state_ = State::abandoned;
  return {.request = id_, .why = Abandon::Why::client_went};
}

void Client::cut_off() { state_ = State::cut_off; }

void Client::take(const Delivery& delivery, Time now) {
  if (!tokens_.empty()) longest_pause_ = std::max(longest_pause_, now - heard_);
  if (tokens_.empty() && !delivery.ids.empty()) first_token_ = now - asked_;
  heard_ = now;
  if (state_ == State::cut_off) return complain("a dead router delivers");
  if (state_ == State::abandoned) return;  // sent before the router knew that the client left
  if (state_ != State::asked) return complain(fmt::format("{} tokens come after the end", delivery.ids.size()));
  const size_t told = tokens_.size();
  tokens_.insert(tokens_.end(), delivery.ids.begin(), delivery.ids.end());
  token_times_.resize(tokens_.size(), now);
  for (const TreeReport& tree : delivery.trees) {
    if (!takes(tree, told)) {
      return complain(fmt::format("the tree of the round from token {} on is told twice, too early or late, or wrong: [{}]",
                                  tree.first_index, fmt::join(tokens_, " ")));
    }
  }
  for (const TokenLogprob& each : delivery.prompt_logprobs) scores_.push_back(each.logprob);
  if (!tokens_.empty() && ask_.scores && scores_.size() + 1 != ask_.prompt.size()) {
    return complain(fmt::format("tokens come after {} logprobs of a prompt of {}", scores_.size(), ask_.prompt.size()));
  }
  drafted_ += static_cast<size_t>(std::ranges::count(delivery.drafted, 1));
  if (std::ranges::none_of(truths_, [&](Truth& truth) { return follows(truth); })) {
    return complain(fmt::format("a logprob of the prompt, token {} or one of the {} before it is wrong: [{}], not [{}]",
                                tokens_.size() - 1, delivery.ids.size() - 1, fmt::join(tokens_, " "),
                                fmt::join(truths_[0].tokens, " ")));
  }
  if (delivery.finish == Finish::none) return;
  state_ = State::answered;
  const bool stopped = !tokens_.empty() && std::ranges::count(ask_.stop_ids, tokens_.back()) > 0;
  const bool full = static_cast<int32_t>(tokens_.size()) == output_max_;
  const bool right = delivery.finish == Finish::stop ? stopped : delivery.finish == Finish::length && full && !stopped;
  if (!right)
    complain(fmt::format("finish {} after {} of {} tokens", static_cast<int>(delivery.finish), tokens_.size(), output_max_));
  // Each step delivers its accepted nodes and one token of its own. Only the end may cut that token
  // off, so the histogram has at most one entry for each step.
  const auto by_accepted = delivery.histogram.of_all();
  size_t steps = 0, accepted = 0;
  for (size_t i = 0; i < by_accepted.size(); ++i) steps += by_accepted[i], accepted += i * by_accepted[i];
  if (accepted != drafted_) complain(fmt::format("the histogram has {} of {} drafted tokens", accepted, drafted_));
  if (steps > delivery.report.steps) complain(fmt::format("the histogram has {} steps of {}", steps, delivery.report.steps));
}

// Whether the tree was asked for, comes once and with the tokens of its round, and its accepted
// path with the target's own choice behind it is part of the answer. told: tokens that came before.
bool Client::takes(const TreeReport& tree, size_t told) {
  if (trees_of(id_) == 0 || tree.first_index <= newest_tree_ || tree.first_index < static_cast<int32_t>(told)) return false;
  newest_tree_ = tree.first_index;
  ++trees_;
  std::vector<TokenId> round;
  int32_t at = kRoot;
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].fate != NodeFate::accepted) continue;
    if (tree.nodes[i].parent != at) return false;
    at = static_cast<int32_t>(i);
    round.push_back(tree.nodes[i].token);
  }
  if (tree.own >= 0) round.push_back(tree.own);
  const auto first = static_cast<size_t>(tree.first_index);
  return !round.empty() && first + round.size() <= tokens_.size() &&
         std::equal(round.begin(), round.end(), tokens_.begin() + tree.first_index);
}

// Whether all tokens so far are those of this plain run, with nothing after its end.
bool Client::follows(Truth& truth) const {
  // Extend the plain run as far as the answer has come.
  while (truth.tokens.size() < tokens_.size()) truth.tokens.push_back(truth.oracle.next());
  if (static_cast<int32_t>(tokens_.size()) > output_max_) return false;
  for (size_t i = 0; i + 1 < tokens_.size(); ++i) {
    if (std::ranges::count(ask_.stop_ids, tokens_[i]) > 0) return false;
  }
  if (scores_.size() > truth.scores.size() || (!ask_.scores && !scores_.empty())) return false;
  return std::equal(tokens_.begin(), tokens_.end(), truth.tokens.begin()) &&
         std::equal(scores_.begin(), scores_.end(), truth.scores.begin());
}

std::string Client::end() const {
  switch (state_) {
    case State::not_asked:
    case State::asked:
      return "goes on";
    case State::answered:
      return "is answered whole";
    case State::failed:
      return "FAILS (" + failure_.code + ")";
    case State::abandoned:
      return "is left by its client";
    case State::cut_off:
      return "is CUT OFF by the end of its router";
    case State::not_needed:
      return "is never asked";
  }
  return {};
}

void Client::take(const Failure& failure) {
  if (state_ == State::cut_off) return complain("a dead router fails a request");
  if (state_ == State::abandoned) return;
  if (state_ != State::asked) return complain("a failure comes after the end");
  state_ = State::failed;
  failure_ = failure;
}

}  // namespace slipstream::sim
