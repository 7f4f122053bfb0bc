#include "tools/slipstream/verify/plots.h"

#include <algorithm>
#include <cmath>

#include "tools/slipstream/document.h"

namespace slipstream::command::verify {
namespace {

constexpr double kLabelWidth = 290, kPlotWidth = 480, kRowHeight = 22, kTop = 26, kNumbersWidth = 130;
constexpr double kDecadesMax = 12;  // smaller p-values get a bar of this length
constexpr size_t kSharesMax = 24;
constexpr const char* kReference = "#7a7a7a";
constexpr const char* kCandidate = "#2a6fb0";
constexpr const char* kBad = "#c0392b";

std::string text(double x, double y, const std::string& content, const char* anchor = "start") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, html_escaped(content));
}

std::string bar(double y, double width, double height, const char* colour) {
  return fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n", kLabelWidth, y,
                     std::max(1.0, width), height, colour);
}

std::string frame(size_t rows, const std::string& name, const std::string& content) {
  const double height = kTop + kRowHeight * static_cast<double>(rows) + 8, width = kLabelWidth + kPlotWidth + kNumbersWidth;
  return fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n{3}</svg>\n",
                     width, height, html_escaped(name), content);
}

double row_top(size_t row) { return kTop + kRowHeight * static_cast<double>(row); }

}  // namespace

std::string p_value_plot(std::span<const DistributionTest> tests, double alpha) {
  const auto length = [](double p) {
    return std::min(kDecadesMax, -std::log10(std::max(p, 1e-300))) / kDecadesMax * kPlotWidth;
  };
  std::string content = text(kLabelWidth, 14, "corrected p-value, logarithmic; a bar beyond the line is a difference");
  for (size_t i = 0; i < tests.size(); ++i) {
    const DistributionTest& test = tests[i];
    const double y = row_top(i);
    content +=
        text(kLabelWidth - 8, y + 14, fmt::format("prompt {}, {:g}: {}", test.prompt + 1, test.temperature, test.place), "end");
    content += bar(y + 3, length(test.adjusted_p), 14, test.adjusted_p <= alpha ? kBad : kCandidate);
    content += text(kLabelWidth + length(test.adjusted_p) + 6, y + 14, fmt::format("{:.2g}", test.adjusted_p));
  }
  const double x = kLabelWidth + length(alpha);
  content +=
      fmt::format("<line x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\" stroke=\"{3}\" stroke-dasharray=\"4 3\"/>\n", x,
                  kTop, row_top(tests.size()), kBad);
  return frame(tests.size(), "corrected p-values of the distribution tests", content);
}

std::string share_plot(const DistributionTest& test) {
  statistics::Pair total;
  for (const Share& share : test.shares) {
    total.reference += share.count.reference;
    total.candidate += share.count.candidate;
  }
  const size_t rows = std::min(kSharesMax, test.shares.size());
  double most = 0;
  for (const Share& share : std::span(test.shares).first(rows)) {
    most = std::max({most, share.count.reference / total.reference, share.count.candidate / total.candidate});
  }
  std::string content = text(kLabelWidth, 14, "share of the draws: reference above in grey, candidate below in blue");
  for (size_t i = 0; i < rows; ++i) {
    const Share& share = test.shares[i];
    const double reference = share.count.reference / total.reference, candidate = share.count.candidate / total.candidate;
    const double y = row_top(i);
    content += text(kLabelWidth - 8, y + 14, share.label, "end");
    content +=
        bar(y + 2, reference / most * kPlotWidth, 8, kReference) + bar(y + 11, candidate / most * kPlotWidth, 8, kCandidate);
    content += text(kLabelWidth + std::max(reference, candidate) / most * kPlotWidth + 6, y + 14,
                    fmt::format("{:.2f} %, {:.2f} %", 100 * reference, 100 * candidate));
  }
  return frame(rows, fmt::format("shares at {}", test.place), content);
}

}  // namespace slipstream::command::verify
