// Where log lines go: a descriptor that may be a pipe or a socket which nobody reads.
//
// A line is written whole, or left out: whoever reads the log too slowly must not hold up commits.
// When there is room again, a line says how many are missing.
//
// Thread safety: all of it, as of every sink.
#pragma once

#include <spdlog/sinks/base_sink.h>

#include <chrono>
#include <cstdint>
#include <mutex>

namespace iceblink::daemon {

class LogSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  /// What is longer is cut: so many bytes are taken at once by whatever has room at all.
  static constexpr std::size_t kLineBytesMax = 4096;

  /// After a wait that was for nothing.
  static constexpr std::chrono::seconds kNoWaitTime{10};

  /// `fd` stays open for as long as this lives. `patience`: how long a line waits that finds no
  /// room; those that come within kNoWaitTime after it do not, whatever got through meanwhile.
  LogSink(int fd, std::chrono::milliseconds patience) : fd_(fd), patience_(patience) {}

 private:
  void sink_it_(const spdlog::details::log_msg& message) override;
  void flush_() override {}
  [[nodiscard]] bool has_room() noexcept;
  /// False: it is not written.
  [[nodiscard]] bool write_line(const spdlog::details::log_msg& message);

  const int fd_;
  const std::chrono::milliseconds patience_;
  std::uint64_t left_out_count_ = 0;
  std::chrono::steady_clock::time_point waits_again_at_{};
};

}  // namespace iceblink::daemon
