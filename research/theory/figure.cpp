#include "research/theory/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace slipstream::theory {
namespace {

// Lengths in pixels.
constexpr double kWidth = 860, kHeight = 380, kLeft = 70, kRight = 290, kTop = 34, kBottom = 52;
constexpr double kLegendRow = 20, kDot = 3.4, kCloudDot = 1.6;
// The palette of Okabe and Ito, which colour-blind readers can tell apart.
constexpr std::array kColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444"};

const char* colour(int index) { return kColours[static_cast<size_t>(index) % kColours.size()]; }

// Maps values to pixels along one axis.
class Scale {
 public:
  Scale(const Axis& axis, double low, double high, double from, double to)
      : logarithmic_(axis.logarithmic), from_(from), to_(to) {
    if (axis.from_zero) low = std::min(low, 0.0);
    if (!(high > low)) high = low + (low == 0 ? 1 : std::abs(low) / 10);
    low_ = place(low), high_ = place(high);
    const double margin = (high_ - low_) * 0.04;
    if (!(axis.from_zero && low == 0)) low_ -= margin;
    high_ += margin;
    for (const double tick : ticks(value(low_), value(high_), logarithmic_)) {
      if (place(tick) >= low_ && place(tick) <= high_) ticks_.push_back(tick);
    }
  }

  double operator()(double at) const { return from_ + (to_ - from_) * (place(at) - low_) / (high_ - low_); }
  const std::vector<double>& ticks_shown() const { return ticks_; }

 private:
  double place(double at) const { return logarithmic_ ? std::log10(at) : at; }
  double value(double at) const { return logarithmic_ ? std::pow(10, at) : at; }

  bool logarithmic_;
  double from_, to_, low_ = 0, high_ = 1;
  std::vector<double> ticks_;
};

Scale scale_of(const Figure& figure, bool horizontal) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Series& series : figure.series) {
    for (const Point& point : series.points) {
      const double at = horizontal ? point.x : point.y, error = horizontal ? point.x_error : point.y_error;
      const bool log = horizontal ? figure.x.logarithmic : figure.y.logarithmic;
      // On a logarithmic axis an interval may reach zero; it then does not extend the axis.
      low = std::min(low, log && at - error <= 0 ? at : at - error);
      high = std::max(high, at + error);
    }
  }
  return horizontal ? Scale(figure.x, low, high, kLeft, kWidth - kRight) : Scale(figure.y, low, high, kHeight - kBottom, kTop);
}

std::string number(double value) {
  const bool whole = std::abs(value) < 1e9 && std::abs(value - std::round(value)) < 1e-9;
  return whole ? fmt::format("{:.0f}", std::abs(value) < 0.5 ? 0.0 : value) : fmt::format("{:.4g}", value);
}

std::string frame(const Figure& figure, const Scale& x, const Scale& y) {
  const double right = kWidth - kRight, bottom = kHeight - kBottom;
  std::string text = fmt::format("<text class=\"title\" x=\"{}\" y=\"18\">{}</text>\n", kLeft, escaped(figure.title));
  for (const double tick : x.ticks_shown()) {
    text += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", x(tick), kTop, bottom);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x(tick), bottom + 17, number(tick));
  }
  for (const double tick : y.ticks_shown()) {
    text += fmt::format("<line class=\"grid\" y1=\"{0:.1f}\" y2=\"{0:.1f}\" x1=\"{1}\" x2=\"{2}\"/>", y(tick), kLeft, right);
    text += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kLeft - 7, y(tick) + 4, number(tick));
  }
  text += fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", kLeft, kTop, right - kLeft,
                      bottom - kTop);
  text += fmt::format("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", (kLeft + right) / 2, kHeight - 12,
                      escaped(figure.x.label));
  text += fmt::format("<text transform=\"translate(16 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                      (kTop + bottom) / 2, escaped(figure.y.label));
  return text;
}

std::string line(const Series& series, const Scale& x, const Scale& y) {
  std::string path;
  for (const Point& point : series.points) path += fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.y));
  return fmt::format("<polyline class=\"curve\" stroke=\"{}\"{} points=\"{}\"/>\n", colour(series.colour),
                     series.look == Series::Look::dashed ? " stroke-dasharray=\"6 4\"" : "", path);
}

std::string band(const Series& series, const Scale& x, const Scale& y) {
  std::string edge;
  for (const Point& point : series.points) edge += fmt::format("{:.1f},{:.1f} ", x(point.x), y(point.y + point.y_error));
  for (auto at = series.points.rbegin(); at != series.points.rend(); ++at) {
    edge += fmt::format("{:.1f},{:.1f} ", x(at->x), y(at->y - at->y_error));
  }
  return fmt::format("<polygon class=\"band\" fill=\"{}\" points=\"{}\"/>\n", colour(series.colour), edge) + line(series, x, y);
}

std::string dots(const Series& series, const Scale& x, const Scale& y) {
  const bool cloud = series.look == Series::Look::cloud;
  std::string text;
  for (const Point& point : series.points) {
    const double across = x(point.x), up = y(point.y);
    if (point.y_error > 0) {
      text += fmt::format("<line class=\"error\" stroke=\"{0}\" x1=\"{1:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{3:.1f}\"/>",
                          colour(series.colour), across, y(point.y - point.y_error), y(point.y + point.y_error));
    }
    if (point.x_error > 0) {
      text += fmt::format("<line class=\"error\" stroke=\"{0}\" y1=\"{1:.1f}\" y2=\"{1:.1f}\" x1=\"{2:.1f}\" x2=\"{3:.1f}\"/>",
                          colour(series.colour), up, x(point.x - point.x_error), x(point.x + point.x_error));
    }
    text += fmt::format("<circle fill=\"{}\"{} cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\">", colour(series.colour),
                        cloud ? " opacity=\"0.35\"" : "", across, up, cloud ? kCloudDot : kDot);
    if (!cloud) text += fmt::format("<title>{}: {:.5g}, {:.5g}</title>", escaped(series.name), point.x, point.y);
    text += "</circle>\n";
  }
  return text;
}

bool dotted(const Series& series) { return series.look == Series::Look::dots || series.look == Series::Look::cloud; }

std::string legend(const Figure& figure) {
  std::string text;
  double row = kTop + 10;
  const double left = kWidth - kRight + 16;
  for (const Series& series : figure.series) {
    if (series.name.empty()) continue;
    if (dotted(series)) {
      text += fmt::format("<circle fill=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"/>", colour(series.colour), left + 10, row - 4,
                          series.look == Series::Look::cloud ? kCloudDot : kDot);
    } else {
      text += fmt::format("<line class=\"curve\" stroke=\"{}\"{} x1=\"{}\" x2=\"{}\" y1=\"{}\" y2=\"{}\"/>",
                          colour(series.colour), series.look == Series::Look::dashed ? " stroke-dasharray=\"6 4\"" : "", left,
                          left + 20, row - 4, row - 4);
    }
    text += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>\n", left + 28, row, escaped(series.name));
    row += kLegendRow;
  }
  return text;
}

// The step of 1, 2 or 5 times a power of ten that gives at most seven intervals.
double round_step(double span) {
  const double power = std::pow(10, std::floor(std::log10(span / 6)));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (span / (step * power) <= 7) return step * power;
  }
  return 10 * power;
}

}  // namespace

std::vector<double> ticks(double low, double high, bool logarithmic) {
  std::vector<double> all;
  if (logarithmic) {
    const bool few = high / low < 30;
    for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double tick = digit * power;
        if (tick >= low && tick <= high && (few || digit == 1)) all.push_back(tick);
      }
    }
    return all;
  }
  const double step = round_step(high - low);
  for (double tick = std::ceil(low / step); tick * step <= high + step * 1e-9; ++tick) all.push_back(tick * step);
  return all;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char character : text) {
    switch (character) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += character;
    }
  }
  return out;
}

std::string svg(const Figure& figure) {
  const Scale x = scale_of(figure, true), y = scale_of(figure, false);
  std::string text =
      fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n", kWidth,
                  kHeight, escaped(figure.title));
  text += frame(figure, x, y);
  for (const bool on_top : {false, true}) {  // curves first, dots on top
    for (const Series& series : figure.series) {
      if (series.points.empty() || (series.look == Series::Look::dots) != on_top) continue;
      text += dotted(series) ? dots(series, x, y) : series.look == Series::Look::band ? band(series, x, y) : line(series, x, y);
    }
  }
  return text + legend(figure) + "</svg>\n";
}

}  // namespace slipstream::theory
