// What was found to be wrong, by kind, with the first few in words.
//
// Thread safety: none.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace iceblink::stress {

enum class Wrong : std::uint8_t {
  kLost,      ///< acknowledged, and not in the log, the store or the segment
  kPhantom,   ///< there, and nobody did it: refused, never sent, or nobody's
  kHalfDone,  ///< an operation of several parts of which some were done
  kValue,     ///< an answer is not what the history has at its generation
  kMixed,     ///< answers of one generation that no generation has together
  kWentBack,  ///< a reader saw less than it had seen before
  kNotFresh,  ///< a commit had been acknowledged before the read began, and was not seen
  kTooEarly,  ///< a value was seen before its operation began
  kFeed,      ///< the change feed left something out, or made it up
  kNotWoken,  ///< a wait passed although there was a change
  kReader,    ///< an error or a strange answer, by the reader's own account
  kRefusal,   ///< refused though it must do, or done though it must be refused
  kDaemon,    ///< the daemon ended, or did not start, without having been told to
  kAudit,     ///< at the end store, segment and history differ
  kCheck,     ///< the check itself: something was let go too early, or never happened
  kCount
};

[[nodiscard]] std::string_view to_string(Wrong kind) noexcept;

class Findings {
 public:
  void add(Wrong kind, std::string what);
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t count(Wrong kind) const noexcept {
    return counts_[static_cast<std::size_t>(kind)];
  }
  /// What, the first kLinesMax of each kind; kinds() are theirs.
  [[nodiscard]] const std::vector<std::string>& lines() const noexcept { return lines_; }
  [[nodiscard]] const std::vector<Wrong>& kinds() const noexcept { return kinds_; }
  static constexpr std::size_t kLinesMax = 4;

 private:
  std::array<std::uint64_t, static_cast<std::size_t>(Wrong::kCount)> counts_{};
  std::uint64_t count_ = 0;
  std::vector<std::string> lines_;
  std::vector<Wrong> kinds_;
};

}  // namespace iceblink::stress
