// The report as one page: figures with simulation and theory, a table of the numbers of each, and a
// sentence that says what the figure shows and what limits it.
#pragma once

#include <string>
#include <vector>

#include "research/theory/estimate.h"
#include "research/theory/figure.h"

namespace slipstream::theory {

struct Table {
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows;  // [rows][head]; the first column is text, the others are numbers
};

struct Exhibit {
  Figure figure;
  std::string source;  // paper and equation
  std::string seen;    // what the figure shows, and what limits it
  std::vector<Comparison> comparisons;
  std::vector<Table> tables;        // in addition to the table of the comparisons
  std::vector<std::string> broken;  // invariants that a run violated, as sentences; empty: none
};

struct Section {
  std::string title, text;
  std::vector<Exhibit> exhibits;
};

struct Report {
  std::string made_with;  // runs, seed and build
  std::vector<Section> sections;

  std::vector<Comparison> comparisons() const;  // of all sections
  bool holds() const;                           // all comparisons agree and no invariant is broken
};

std::string html(const Report& report);     // self-contained
std::string summary(const Report& report);  // Markdown, for a terminal

}  // namespace slipstream::theory
