// A table that lines up: on a terminal, in Markdown, in HTML.
#pragma once

#include <string>
#include <vector>

namespace slipstream::command::verify {

class Table {
 public:
  struct Column {
    std::string title;
    bool right = false;  // numbers
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void row(std::vector<std::string> cells);  // as many as there are columns
  std::string plain() const;
  std::string markdown() const;
  std::string html() const;

 private:
  std::string lines(const std::vector<std::vector<std::string>>& rows, bool markdown) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace slipstream::command::verify
