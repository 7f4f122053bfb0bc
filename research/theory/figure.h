// Draws curves and points as a self-contained SVG: no script, no font, no other file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace slipstream::theory {

struct Point {
  double x = 0, y = 0;
  double y_error = 0, x_error = 0;  // half widths of the intervals
};

struct Series {
  // dots: with their intervals. band: a line inside its interval. cloud: small and pale dots.
  enum class Look : uint8_t { line, dashed, dots, band, cloud };
  std::string name;  // in the legend; "": not listed
  Look look = Look::line;
  int colour = 0;  // index; theory and simulation of one quantity share it
  std::vector<Point> points;
};

struct Axis {
  std::string label;
  bool logarithmic = false;  // REQUIRES: all values above 0
  bool from_zero = false;
};

struct Figure {
  std::string title;
  Axis x, y;
  std::vector<Series> series;
};

std::string svg(const Figure& figure);

// Returns round numbers between `low` and `high`, about six. On a logarithmic axis: powers of ten,
// or 1, 2 and 5 times each.
std::vector<double> ticks(double low, double high, bool logarithmic);

// Escapes text for XML.
std::string escaped(const std::string& text);

}  // namespace slipstream::theory
