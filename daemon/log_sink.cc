#include "daemon/log_sink.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "daemon/log_event.h"

namespace iceblink::daemon {

void LogSink::sink_it_(const spdlog::details::log_msg& message) {
  if (left_out_count_ > 0 && has_room()) {
    const std::string text = event_text("log lines left out", {{"count", left_out_count_}});
    if (write_line({message.logger_name, spdlog::level::warn, text})) left_out_count_ = 0;
  }
  if (left_out_count_ > 0 || !has_room() || !write_line(message)) ++left_out_count_;
}

bool LogSink::has_room() noexcept {
  const bool waits = std::chrono::steady_clock::now() >= waits_again_at_;
  pollfd room{fd_, POLLOUT, 0};
  int ready = 0;
  do {
    ready = ::poll(&room, 1, waits ? static_cast<int>(patience_.count()) : 0);
  } while (ready < 0 && errno == EINTR);
  if (ready == 1 && (room.revents & POLLOUT) != 0) return true;
  if (waits) waits_again_at_ = std::chrono::steady_clock::now() + kNoWaitTime;
  return false;
}

bool LogSink::write_line(const spdlog::details::log_msg& message) {
  constexpr std::string_view kCut = "...\n";
  spdlog::memory_buf_t line;
  formatter_->format(message, line);
  if (line.size() > kLineBytesMax) {
    line.resize(kLineBytesMax - kCut.size());
    line.append(kCut.data(), kCut.data() + kCut.size());
  }
  ssize_t written = -1;
  do {
    written = ::write(fd_, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  return written >= 0;
}

}  // namespace iceblink::daemon
