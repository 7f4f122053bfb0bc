// A plot of lines with axes and a legend, as self-contained SVG. It takes the colours of text and
// grid from the page's variables --ink and --line (document.h), so that it fits dark pages too.
// Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace slipstream::command::load {

struct Line {
  struct At {
    double x = 0, y = 0;
  };
  std::string name;
  std::vector<At> points;
};

struct PlotStyle {
  std::string title;
  std::string x;  // unit of the horizontal axis
  // A logarithmic axis shows what is at or below 0 at its left or lower end. The other begins at 0.
  bool x_logarithmic = false, y_logarithmic = false;
};

// Lines beyond the eighth have the colour of an earlier one. Without any point, it says so.
std::string line_plot(const PlotStyle& style, std::span<const Line> lines);

// Round numbers of an axis from low to high: a few multiples of 1, 2 or 5 times a power of ten, or
// powers of ten and their halves and fifths on a logarithmic one.
std::vector<double> ticks(double low, double high, bool logarithmic);

}  // namespace slipstream::command::load
