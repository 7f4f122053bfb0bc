// Replays answers through look-up (common/drafting/ngram.h): how many tokens a step emits, and how
// many draft nodes it verifies, if nodes are drafted down to one survival or another. No model
// runs: a node is accepted if the answer has its token there.
//
//   build/release/bench/lookup_trace [--earlier] < trace    bench/peers/suffixes.py makes one
//
// A line of the trace is a request: the length of its prompt, then the ids of prompt and answer.
// Prints "request survival tokens steps nodes" for each request and survival.
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "common/drafting/ngram.h"

namespace slipstream {
namespace {

struct Request {
  int32_t prompt_length = 0;
  std::vector<TokenId> tokens;  // of prompt and answer
};

struct Replay {
  int64_t tokens = 0, steps = 0, nodes = 0;
};

// How many nodes from the root down carry the tokens that follow.
int accepted(const TokenTree& tree, std::span<const TokenId> follow) {
  int node = kRoot, count = 0;
  for (const TokenId token : follow) {
    if ((node = tree.child(node, token)) < 0) break;
    ++count;
  }
  return count;
}

Result<Replay> replay(NgramMethod& method, const DraftKey& key, const Request& request, const StopRule& rule) {
  constexpr TenantId kOnly = 1;
  method.begin(key, {.prompt_length = request.prompt_length, .tenant = kOnly});
  const std::span<const TokenId> tokens(request.tokens);
  auto length = static_cast<size_t>(request.prompt_length);
  method.advance(key, tokens.first(length));
  Replay replay;
  while (length < tokens.size()) {
    const DraftAsk ask{.key = key, .rule = rule};
    TRY(const std::vector<Draft> drafts, method.draft({&ask, 1}));
    const TokenTree& tree = drafts.front()->tokens();
    const auto emitted =
        std::min<size_t>(static_cast<size_t>(accepted(tree, tokens.subspan(length))) + 1, tokens.size() - length);
    method.advance(key, tokens.subspan(length, emitted));
    length += emitted;
    replay.tokens += static_cast<int64_t>(emitted);
    replay.steps += 1;
    replay.nodes += tree.size();
  }
  method.end(key);
  return replay;
}

std::vector<Request> read_trace(std::istream& lines) {
  std::vector<Request> requests;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream numbers(line);
    Request& request = requests.emplace_back();
    numbers >> request.prompt_length;
    for (TokenId token = 0; numbers >> token;) request.tokens.push_back(token);
  }
  return requests;
}

Result<void> run(std::span<const Request> requests, bool earlier, StopRule rule) {
  for (const float survival : {0.7F, 0.5F, 0.4F, 0.3F, 0.2F, 0.15F, 0.1F, 0.07F, 0.05F, 0.03F, 0.02F, 0.0F}) {
    NgramMethod method(std::make_shared<LookUpTexts>(earlier ? LookUp::tenant : LookUp::own));
    rule.threshold = 1 - survival;
    for (size_t i = 0; i < requests.size(); ++i) {
      TRY(const Replay done, replay(method, {Peer{1}, {1, i}}, requests[i], rule));
      fmt::print("{} {} {} {} {}\n", i, survival, done.tokens, done.steps, done.nodes);
    }
  }
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  CLI::App app("replays a trace through look-up");
  bool earlier = false;
  slipstream::StopRule rule{.nodes_max = 16, .depth_max = 16};
  app.add_flag("--earlier", earlier, "look in earlier answers, too");
  app.add_option("--nodes", rule.nodes_max, "of a tree at most")
      ->check(CLI::Range(1, slipstream::kTreeNodesMax))
      ->capture_default_str();
  app.add_option("--depth", rule.depth_max, "of a tree at most")
      ->check(CLI::Range(1, slipstream::kTreeDepthMax))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  if (const auto done = slipstream::run(slipstream::read_trace(std::cin), earlier, rule); !done) {
    fmt::print(stderr, "{}\n", done.error().message);
    return 1;
  }
}
