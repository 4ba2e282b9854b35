#include "client/cli/columns.h"

#include <algorithm>

#include "iceberg/utf8.h"

namespace iceblink::cli {
namespace {

bool begins_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
}

}  // namespace

std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string fit(std::string_view text, std::size_t columns) {
  std::string line = on_one_line(text);
  if (width_of(line) <= columns) return line;
  std::size_t end = 0;
  for (std::size_t width = 0; end < line.size(); ++end) {
    if (begins_character(line[end]) && ++width == columns) break;
  }
  return line.substr(0, end) + "…";
}

std::string padded(std::string text, std::size_t columns) {
  const std::size_t width = width_of(text);
  if (width < columns) text.append(columns - width, ' ');
  return text;
}

void AlignedRows::measure(const Row& row) {
  for (std::size_t i = 0; i + 1 < row.size(); ++i) {
    widths_[i] = std::max(widths_[i], width_of(on_one_line(row[i])));
  }
}

std::string AlignedRows::line_of(const Row& row) const {
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const std::string cell = on_one_line(row[i]);
    const std::size_t width = width_of(cell);
    const std::size_t missing = widths_[i] > width ? widths_[i] - width : 0;
    if (i > 0) line += "  ";
    if (alignments_[i] == Alignment::kRight) line.append(missing, ' ');
    line += cell;
    if (alignments_[i] == Alignment::kLeft && i + 1 < row.size()) line.append(missing, ' ');
  }
  return line;
}

}  // namespace iceblink::cli
