#include "tools/slipstream/load/line_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tools/slipstream/document.h"

namespace slipstream::command::load {
namespace {

constexpr double kWidth = 920, kHeight = 280, kLeft = 64, kRight = 250, kTop = 30, kBottom = 40;
constexpr double kLegendRow = 18;
constexpr double kTicksWanted = 6;
constexpr double kNarrowest = 1e-9;  // relative width of an axis
// Told apart on white and on near-black, and by most who do not see all colours (Okabe and Ito).
constexpr std::array kColours{"#0072b2", "#e69f00", "#009e73", "#d55e00", "#cc79a7", "#56b4e9", "#8c7a00", "#7a7a7a"};

// One axis: from values to places.
struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  double from = 0, to = 1;  // places of low and high

  double at(double value) const {
    const double clipped = std::clamp(value, low, high);
    const double share = logarithmic ? std::log(clipped / low) / std::log(high / low) : (clipped - low) / (high - low);
    return from + share * (to - from);
  }
};

Axis axis(std::span<const Line> lines, double Line::At::* side, bool logarithmic) {
  double low = std::numeric_limits<double>::max(), high = 0;
  for (const Line& line : lines) {
    for (const Line::At& at : line.points) {
      if (at.*side > 0) low = std::min(low, at.*side);
      high = std::max(high, at.*side);
    }
  }
  if (high <= 0) return {.low = logarithmic ? 0.1 : 0, .high = 1, .logarithmic = logarithmic};
  if (!logarithmic) return {.low = 0, .high = high};
  return high > low * (1 + kNarrowest) ? Axis{.low = low, .high = high, .logarithmic = true}
                                       : Axis{.low = low / 2, .high = high * 2, .logarithmic = true};
}

std::string text(double x, double y, const std::string& content, const char* anchor) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor, html_escaped(content));
}

std::string stroke(double x1, double y1, double x2, double y2, const char* colour, double width) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"{}\"/>\n", x1,
                     y1, x2, y2, colour, width);
}

std::string grid(const Axis& x, const Axis& y, const PlotStyle& style) {
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  std::string svg;
  for (double value : ticks(x.low, x.high, x.logarithmic)) {
    svg += stroke(x.at(value), kTop, x.at(value), bottom, "var(--line)", 1);
    svg += text(x.at(value), bottom + 16, fmt::format("{:g}", value), "middle");
  }
  for (double value : ticks(y.low, y.high, y.logarithmic)) {
    svg += stroke(kLeft, y.at(value), right, y.at(value), "var(--line)", 1);
    svg += text(kLeft - 8, y.at(value) + 4, fmt::format("{:g}", value), "end");
  }
  return svg + text(right, bottom + 32, style.x, "end");
}

std::string path(const Line& line, const Axis& x, const Axis& y, const char* colour) {
  std::string points;
  for (const Line::At& at : line.points) points += fmt::format("{:.1f},{:.1f} ", x.at(at.x), y.at(at.y));
  if (!points.empty()) points.pop_back();
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\" stroke-linejoin=\"round\"/>\n",
                     points, colour);
}

}  // namespace

std::vector<double> ticks(double low, double high, bool logarithmic) {
  std::vector<double> found;
  if (logarithmic) {
    const bool wide = high / low > 1e4;  // powers of ten alone are enough
    for (double power = std::pow(10.0, std::floor(std::log10(low))); power <= high; power *= 10) {
      for (double factor : {1.0, 2.0, 5.0}) {
        if (factor > 1 && wide) continue;
        if (factor * power >= low && factor * power <= high) found.push_back(factor * power);
      }
    }
    return found;
  }
  const double rough = (high - low) / kTicksWanted;
  if (rough <= 0) return {low};
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : rough / power > 1 ? 2 : 1);
  for (double count = std::ceil(low / step); count * step <= high; ++count) found.push_back(count * step);
  return found;
}

std::string line_plot(const PlotStyle& style, std::span<const Line> lines) {
  Axis x = axis(lines, &Line::At::x, style.x_logarithmic), y = axis(lines, &Line::At::y, style.y_logarithmic);
  x.from = kLeft;
  x.to = kWidth - kRight;
  y.from = kHeight - kBottom;
  y.to = kTop;
  const double height = std::max(kHeight, kTop + kLegendRow * static_cast<double>(lines.size() + 1));  // of the legend, too
  std::string svg = text(kLeft, 16, style.title, "start");
  const bool any = std::ranges::any_of(lines, [](const Line& line) { return !line.points.empty(); });
  svg += any ? grid(x, y, style) : text(kLeft, kHeight / 2, "nothing was measured", "start");
  size_t number = 0;
  for (const Line& line : lines) {
    if (line.points.empty()) continue;
    const char* colour = kColours[number % kColours.size()];
    const double row = kTop + 10 + kLegendRow * static_cast<double>(number++);
    svg += path(line, x, y, colour);
    svg += stroke(kWidth - kRight + 14, row - 4, kWidth - kRight + 34, row - 4, colour, 3);
    svg += text(kWidth - kRight + 40, row, line.name, "start");
  }
  return fmt::format("<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\">\n{3}</svg>\n",
                     kWidth, height, html_escaped(style.title), svg);
}

}  // namespace slipstream::command::load
