#include "client/cli/columns.h"

#include <algorithm>

#include "iceberg/utf8.h"

namespace iceblink::cli {
namespace {

constexpr std::size_t kGap = 2;

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
  for (std::size_t i = 0; i < row.size(); ++i) {
    widths_[i] = std::max(widths_[i], width_of(on_one_line(row[i])));
  }
}

bool AlignedRows::is_too_wide() const {
  std::size_t width = (widths_.size() - 1) * kGap;
  for (const std::size_t each : widths_) width += each;
  return width > kColumns;
}

std::vector<std::string> AlignedRows::lines_of(const Row& row) const {
  std::vector<std::string> lines(1);
  std::string& line = lines[0];
  const std::size_t last = row.size() - 1;
  for (std::size_t i = 0; i < last; ++i) {
    const std::string cell = on_one_line(row[i]);
    const std::size_t width = width_of(cell);
    const std::size_t missing = widths_[i] > width ? widths_[i] - width : 0;
    if (i > 0) line.append(kGap, ' ');
    if (alignments_[i] == Alignment::kRight) line.append(missing, ' ');
    line += cell;
    if (alignments_[i] == Alignment::kLeft) line.append(missing, ' ');
  }
  if (!is_too_wide()) {
    line.append(kGap, ' ').append(on_one_line(row[last]));
  } else {
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::string(2 * kGap, ' ') + on_one_line(row[last]));
  }
  return lines;
}

}  // namespace iceblink::cli
