// How far a long command has come, on standard error: one line that is written over on a terminal,
// and nothing where standard error is not one, unless it is asked for.
//
// Thread safety: one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iceblink::cli {

class Progress {
 public:
  enum class Shown : std::uint8_t {
    kOnTerminals,
    kAlways,  // elsewhere: a line of its own, every second at most
    kNever,
  };

  /// `what` is counted, in the plural: "tables". Without a total there is a count, and no bar.
  Progress(std::string_view what, std::optional<std::uint64_t> total,
           Shown shown = Shown::kOnTerminals);
  /// Ends the line.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap: draws ten times a second at most.
  void show(std::uint64_t done);

  /// "[#####.....]  50 %  500/1000 tables, 12,345/s, 2 s left" within `columns`.
  [[nodiscard]] static std::string line_of(std::string_view what, std::uint64_t done,
                                           std::optional<std::uint64_t> total,
                                           std::chrono::milliseconds elapsed);

 private:
  void draw(std::uint64_t done, std::chrono::steady_clock::time_point now);

  const std::string what_;
  const std::optional<std::uint64_t> total_;
  const std::chrono::steady_clock::time_point begun_;
  std::chrono::steady_clock::time_point drawn_{};
  std::uint64_t done_ = 0;
  bool is_terminal_ = false;
  bool is_shown_ = false;
};

}  // namespace iceblink::cli
