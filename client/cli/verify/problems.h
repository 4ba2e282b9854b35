// What was found wrong, in lines: the first of them, and how many there are.
//
// Thread safety: one thread.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace iceblink::cli {

class Problems {
 public:
  static constexpr std::size_t kLinesMax = 1000;

  void add(std::string line) {
    if (count_++ < kLinesMax) lines_.push_back(std::move(line));
  }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] const std::vector<std::string>& lines() const noexcept { return lines_; }

 private:
  std::size_t count_ = 0;
  std::vector<std::string> lines_;
};

}  // namespace iceblink::cli
