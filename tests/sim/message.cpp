#include "tests/sim/message.h"

#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace slipstream::sim {
namespace {

// Writes a sequence as the last four digits of its router's incarnation and the number of its
// request there.
std::string of(const SequenceId& sequence, Epoch epoch) {
  return fmt::format("{:04x}/{} epoch {}", sequence.router & 0xFFFF, sequence.counter, epoch);
}
std::string of(const Fence& fence) {
  return fmt::format("{} round {} base {} hash {:04x}", of(fence.sequence, fence.epoch), fence.round, fence.base_length,
                     fence.prefix_hash & 0xFFFF);
}

std::string_view name(Finish finish) {
  constexpr std::string_view kNames[] = {"none", "stop", "length", "cancelled", "error"};
  return kNames[static_cast<size_t>(finish)];
}

std::string text(const Hello& hello) { return fmt::format("Hello {}", hello.role == Role::verifier ? "verifier" : "drafter"); }
std::string text(const WorkerHeartbeat& beat) { return fmt::format("WorkerHeartbeat sequences {}", beat.sequences); }
std::string text(const Leaving& leaving) { return fmt::format("Leaving: {}", leaving.reason); }
std::string text(const Welcome&) { return "Welcome"; }
std::string text(const Refuse& refuse) { return fmt::format("Refuse: {}", refuse.reason); }
std::string text(const RouterHeartbeat&) { return "RouterHeartbeat"; }
std::string text(const Drain& drain) { return fmt::format("Drain: {}", drain.reason); }
std::string text(const Start& m) {
  return fmt::format("Start {} prompt {} tokens {} output_max {} drafters {}", of(m.sequence, m.epoch), m.spec.prompt_length,
                     m.tokens.size(), m.spec.output_max, m.drafters.size());
}
std::string text(const Ack& m) {
  return fmt::format("Ack {} next {}{}", of(m.sequence, m.epoch), m.next_index, m.finished ? " finished" : "");
}
std::string text(const Cancel& m) { return fmt::format("Cancel {}", of(m.sequence, m.epoch)); }
std::string text(const Accepted& m) { return fmt::format("Accepted {}", of(m.sequence, m.epoch)); }
std::string text(const Refused& m) {
  return fmt::format("Refused {}: {}{}", of(m.sequence, m.epoch), m.reason, m.retry ? " (retry)" : "");
}
std::string text(const Tokens& m) {
  return fmt::format("Tokens {} first {} ids [{}]{}", of(m.sequence, m.epoch), m.first_index, fmt::join(m.ids, " "),
                     m.finish == Finish::none ? "" : fmt::format(" finish {}", name(m.finish)));
}
std::string text(const Assign& m) {
  return fmt::format("Assign {} version {} drafters {}", of(m.sequence, m.epoch), m.version, m.drafters.size());
}
std::string text(const Attach&) { return "Attach"; }
std::string text(const Attached& m) {
  return m.attach_first ? "Attached: attach first" : m.refusal.empty() ? "Attached" : "Attached: refused, " + m.refusal;
}
std::string text(const Advance& m) {
  return fmt::format("Advance {} + [{}]{}{}{}", of(m.fence), fmt::join(m.tokens, " "), m.draft ? "" : " no draft",
                     m.info ? " with info" : "",
                     m.verdicts.empty() ? "" : fmt::format(" verdicts [{}]", fmt::join(m.verdicts, " ")));
}
std::string text(const Release& m) { return fmt::format("Release {}", of(m.sequence, m.epoch)); }
std::string text(const Tree& m) {
  std::string nodes;
  for (const TreeNode& node : m.nodes) nodes += fmt::format(" {}<{}", node.token, node.parent);
  return fmt::format("Tree {} nodes{}", of(m.fence), nodes);
}
std::string text(const Resync& m) {
  return fmt::format("Resync {} round {} held {}", of(m.sequence, m.epoch), m.round, m.held);
}
std::string text(const Unknown& m) { return fmt::format("Unknown tag {}", m.tag); }

}  // namespace

Boundary boundary(const Message& message) {
  return std::visit(
      []<class M>(const M&) {
        if constexpr (std::is_same_v<M, Unknown>)
          return Boundary::control;
        else
          return boundary_of<M>();
      },
      message);
}

std::string describe(const Message& message) {
  return std::visit([](const auto& m) { return text(m); }, message);
}

bool routine(const Message& message) {
  return std::holds_alternative<WorkerHeartbeat>(message) || std::holds_alternative<RouterHeartbeat>(message);
}

}  // namespace slipstream::sim
