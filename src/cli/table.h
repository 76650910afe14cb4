// Table: rows aligned in columns by display width, for people. Cells are cleaned here, so
// that no name can steer the terminal. Columns are separated by two spaces; the last one
// is not padded. Not thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/width.h"

namespace cardhour::cli {

struct Column {
  Text title;
  Align align = Align::left;
  int width_max = 48;  // longer cells are shortened
};

class Table {
 public:
  Table(std::vector<Column> columns, Language language)
      : columns_(std::move(columns)), language_(language) {}

  // One cell per column. CHECKed.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  // With the titles, a final newline, and no space at the end of a line.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  Language language_;
  std::vector<std::vector<std::string>> rows_;
};

// "name   value" lines, the names padded to the widest.
class Facts {
 public:
  explicit Facts(Language language) : language_(language) {}

  // The value is cleaned; an empty one is left out.
  void add(const Text& name, const std::string& value);
  void add(const Text& name, const Text& value) { add(name, value.in(language_)); }
  std::string text() const;

 private:
  Language language_;
  std::vector<std::pair<std::string, std::string>> lines_;
};

}  // namespace cardhour::cli
