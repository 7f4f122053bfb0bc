// A figure of curves and points, sampled as an SVG that needs nothing else: no script, no font, no
// file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slipstream::theory {

struct Point {
  double x = 0, y = 0;
  double y_error = 0, x_error = 0;  // half widths of intervals around it
};

struct Series {
  // dots: with their intervals. band: a line within its interval. cloud: small and pale.
  enum class Look : uint8_t { line, dashed, dots, band, cloud };
  std::string name;  // in the legend; empty: not there
  Look look = Look::line;
  int colour = 0;  // theory and simulation of one thing share it
  std::vector<Point> points;
};

struct Axis {
  std::string label;
  bool logarithmic = false;  // all values above 0
  bool from_zero = false;
};

struct Figure {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
};

std::string svg(const Figure& figure);

// Round numbers that span [low, high], about as many as wanted; of a logarithmic axis its powers of
// ten, or 1, 2, 5 of each.
std::vector<double> ticks(double low, double high, bool logarithmic);

// Text as it may stand in XML.
std::string escaped(const std::string& text);

}  // namespace slipstream::theory
