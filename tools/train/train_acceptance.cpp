// `slipstream-train acceptance`: acceptance heads from draft traces.
#include <cmath>
#include <cstdio>
#include <fstream>

#include <fmt/format.h>
#include <fmt/os.h>

#include "common/base/write_whole.h"
#include "common/model/heads/acceptance_head.h"
#include "tools/train/acceptance_training.h"
#include "tools/train/commands.h"
#include "tools/train/compute_device.h"
#include "tools/train/platt.h"

namespace slipstream::train {
namespace {

// A trained acceptance head.
struct Candidate {
  AcceptanceSettings settings;
  Weights weights;
  PredictionQuality quality;

  std::string name() const { return fmt::format("D{}w{:g}", settings.layers, settings.reject_weight); }
};

Result<std::vector<DraftTrace>> open_traces(const std::vector<std::filesystem::path>& paths, uint64_t drafter_hash) {
  std::vector<DraftTrace> traces;
  for (const auto& path : paths) {
    TRY(DraftTrace trace, DraftTrace::open(path));
    if (trace.origin().drafter != drafter_hash) {
      return fail("{} is a trace of another drafter: trace this one with `slipstream-train trace`", path.string());
    }
    traces.push_back(std::move(trace));
  }
  return traces;
}

// The confidences that the drafter states, calibrated in the same way: what an acceptance head
// has to beat.
PredictionQuality quality_of_confidence(const AcceptanceData& data) {
  std::vector<float> logits(data.measure.confidence.size());
  for (int64_t column = 0; column < kAcceptanceColumns; ++column) {
    std::vector<float> stated, seen;
    for (size_t i = 0; i < data.calibrate.column.size(); ++i) {
      if (data.calibrate.column[i] != column) continue;
      stated.push_back(logit_of_confidence(data.calibrate.confidence[i]));
      seen.push_back(data.calibrate.accepted[i]);
    }
    const PlattLine line = fit_platt(stated, seen);
    for (size_t i = 0; i < logits.size(); ++i) {
      if (data.measure.column[i] != column) continue;
      logits[i] = static_cast<float>(line.slope * logit_of_confidence(data.measure.confidence[i]) + line.offset);
    }
  }
  return quality_of(logits, data.measure.accepted);
}

void print_quality(const std::string& name, const PredictionQuality& quality) {
  fmt::print("{:<22} {:>8.4f} {:>12.4f} {:>10.4f}\n", name, quality.loss, quality.error, quality.order);
  std::fflush(stdout);
}

Result<std::vector<Candidate>> train_all(const AcceptanceOptions& options, const AcceptanceData& data, at::Device device,
                                         const std::stop_token& stop) {
  std::vector<Candidate> candidates;
  for (const int layers : options.layers) {
    for (const double reject_weight : options.reject_weights) {
      AcceptanceSettings settings = options.training;
      settings.layers = layers;
      settings.reject_weight = reject_weight;
      settings.seed = options.seed;
      settings.device = device;
      TRY(Weights weights, train_acceptance_head(data, settings, stop));
      if (stop.stop_requested()) return candidates;
      const std::vector<float> logits = predicted(weights, layers, data.measure);
      candidates.push_back({settings, std::move(weights), quality_of(logits, data.measure.accepted)});
      print_quality(candidates.back().name(), candidates.back().quality);
    }
  }
  return candidates;
}

// A line for each node: what it is, and the probability that each candidate gives it.
std::string predictions_of(const DraftTrace& trace, const std::vector<Candidate>& candidates) {
  std::string text = "chat\tfrom\tdepth\tmatched\tentropy\tconfidence";
  for (const Candidate& candidate : candidates) text += '\t' + candidate.name();
  text += '\n';
  for (size_t chat = 0; chat < trace.chats(); ++chat) {
    const AcceptanceExamples all = nodes_of_chat(trace, chat);
    std::vector<std::vector<float>> logits;
    for (const Candidate& each : candidates) logits.push_back(predicted(each.weights, each.settings.layers, all));
    size_t node = 0;
    for (size_t from = 0; from < trace.drafts(chat); ++from) {
      const auto nodes = trace.draft(chat, from).nodes;
      for (size_t depth = 0; depth < nodes.size(); ++depth, ++node) {
        text += fmt::format("{}\t{}\t{}\t{}\t{:.4f}\t{:.4f}", chat, from, depth + 1, nodes[depth].matched, nodes[depth].entropy,
                            nodes[depth].confidence);
        for (const auto& each : logits) text += fmt::format("\t{:.4f}", 1 / (1 + std::exp(-each[node])));
        text += '\n';
      }
    }
  }
  return text;
}

Result<void> write_predictions(const AcceptanceOptions& options, uint64_t drafter_hash,
                               const std::vector<Candidate>& candidates) {
  TRY(const std::vector<DraftTrace> traces, open_traces(options.replay, drafter_hash));
  std::error_code error;
  std::filesystem::create_directories(options.predictions, error);
  for (size_t i = 0; i < traces.size(); ++i) {
    const auto path = options.predictions / (options.replay[i].stem().string() + ".tsv");
    TRY_VOID(replace_whole(path.string(), predictions_of(traces[i], candidates), "the predictions"));
  }
  return {};
}

}  // namespace

Result<RunEnd> train_acceptance(const AcceptanceOptions& options, std::stop_token stop) {
  TRY(const ComputeDevice compute, ComputeDevice::open(options.device, options.threads));
  TRY(const uint64_t drafter_hash, options.drafter.hash());
  TRY(const std::vector<DraftTrace> traces, open_traces(options.traces, drafter_hash));
  TRY(const AcceptanceData data, AcceptanceData::of(traces, options.held_out_every));
  fmt::print("{} drafted nodes to train on, {} to calibrate, {} to measure\n\n", data.train.size(), data.calibrate.size(),
             data.measure.size());
  fmt::print("{:<22} {:>8} {:>12} {:>10}\n", "held out", "loss", "calibration", "order");
  print_quality("stated confidence", quality_of_confidence(data));
  TRY(const std::vector<Candidate> candidates, train_all(options, data, compute.device(), stop));
  if (stop.stop_requested()) {
    fmt::print("stopped: nothing was written, and the same command begins anew\n");
    return RunEnd::stopped;
  }
  const Candidate& best = *std::ranges::min_element(candidates, {}, [](const Candidate& each) { return each.quality.loss; });
  TRY_VOID(write_acceptance_folder(options.drafter, best.weights));
  fmt::print("\nkept: {} in {}\n", best.name(), acceptance_folder(options.drafter.path()).string());
  if (!options.predictions.empty()) TRY_VOID(write_predictions(options, drafter_hash, candidates));
  return RunEnd::finished;
}

}  // namespace slipstream::train
