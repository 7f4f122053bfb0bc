// One page that a person can read: figures with simulation beside theory, the numbers of each in a
// table, and a sentence that says what is seen and what bounds it.
#pragma once

#include <string>
#include <vector>

#include "research/theory/estimate.h"
#include "research/theory/figure.h"

namespace slipstream::theory {

struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // [rows][head]; the first column is words, the others numbers
};

struct Exhibit {
  Figure figure;
  std::string source;  // paper and equation
  std::string seen;    // what is seen, and what bounds it
  std::vector<Comparison> comparisons;
  std::vector<Table> tables;        // besides that of the comparisons
  std::vector<std::string> broken;  // what had to hold in every run and did not, as sentences; none: all is well
};

struct Section {
  std::string title, text;
  std::vector<Exhibit> exhibits;
};

struct Report {
  std::string made_with;  // runs, seed and build
  std::vector<Section> sections;

  std::vector<Comparison> comparisons() const;  // of all
  bool holds() const;                           // they agree, and nothing is broken
};

std::string html(const Report& report);     // self-contained
std::string summary(const Report& report);  // Markdown, for a terminal

}  // namespace slipstream::theory
