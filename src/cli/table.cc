#include "cli/table.h"

#include <algorithm>

#include "base/check.h"

namespace cardhour::cli {
namespace {

void trim_end(std::string& line) {
  while (!line.empty() && line.back() == ' ') line.pop_back();
}

}  // namespace

void Table::add(std::vector<std::string> cells) {
  CHECK(cells.size() == columns_.size(), "a row with as many cells as the table has columns");
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i] = shortened(clean(cells[i]), columns_[i].width_max);
  }
  rows_.push_back(std::move(cells));
}

std::string Table::text() const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title.in(language_));
  std::vector<int> widths;  // 0: a column that nothing stands in
  for (size_t i = 0; i < columns_.size(); ++i) {
    int width = display_width(titles[i]);
    for (const auto& row : rows_) width = std::max(width, display_width(row[i]));
    widths.push_back(width);
  }
  std::string out;
  const auto append = [&](const std::vector<std::string>& row) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths[i] == 0) continue;
      if (!line.empty()) line += "  ";
      line += padded(row[i], widths[i], columns_[i].align);
    }
    trim_end(line);
    out += line + "\n";
  };
  append(titles);
  for (const auto& row : rows_) append(row);
  return out;
}

void Facts::add(const Text& name, const std::string& value) {
  if (!value.empty()) lines_.emplace_back(name.in(language_), clean(value));
}

std::string Facts::text() const {
  int width = 0;
  for (const auto& [name, value] : lines_) width = std::max(width, display_width(name));
  std::string out;
  for (const auto& [name, value] : lines_) {
    out += "  " + padded(name, width, Align::left) + "  " + value + "\n";
  }
  return out;
}

}  // namespace cardhour::cli
