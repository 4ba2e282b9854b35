// Text in columns of a terminal. Texts are UTF-8, and a character takes one column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iceblink::cli {

inline constexpr std::size_t kColumns = 80;

[[nodiscard]] std::size_t width_of(std::string_view text);
/// Cut to `columns`, on one line.
[[nodiscard]] std::string fit(std::string_view text, std::size_t columns);
[[nodiscard]] std::string padded(std::string text, std::size_t columns);

enum class Alignment : std::uint8_t { kLeft, kRight };

/// Rows of cells, each column as wide as its widest cell that was measured; but the last one ends
/// where its cell does, and is kLeft. Where some row would be wider than a terminal, the last cell
/// of each stands on a line of its own.
class AlignedRows {
 public:
  using Row = std::vector<std::string>;

  explicit AlignedRows(std::vector<Alignment> alignments)
      : alignments_(std::move(alignments)), widths_(alignments_.size()) {}

  void measure(const Row& row);
  /// One line or two.
  [[nodiscard]] std::vector<std::string> lines_of(const Row& row) const;

 private:
  [[nodiscard]] bool is_too_wide() const;

  const std::vector<Alignment> alignments_;
  std::vector<std::size_t> widths_;  // also of the last cells
};

}  // namespace iceblink::cli
