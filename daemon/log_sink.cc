#include "daemon/log_sink.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "daemon/log_event.h"

namespace iceblink::daemon {

void LogSink::sink_it_(const spdlog::details::log_msg& message) {
  if (!has_room()) {
    ++left_out_count_;
    return;
  }
  if (left_out_count_ > 0) {
    const std::string text = event_text("log lines left out", {{"count", left_out_count_}});
    left_out_count_ = 0;
    write_line({message.logger_name, spdlog::level::warn, text});
    if (!has_room()) {
      ++left_out_count_;
      return;
    }
  }
  write_line(message);
}

bool LogSink::has_room() noexcept {
  const bool waits = left_out_count_ == 0;
  pollfd room{fd_, POLLOUT, 0};
  int ready = 0;
  do {
    ready = ::poll(&room, 1, waits ? static_cast<int>(patience_.count()) : 0);
  } while (ready < 0 && errno == EINTR);
  return ready == 1 && (room.revents & POLLOUT) != 0;
}

void LogSink::write_line(const spdlog::details::log_msg& message) {
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
}

}  // namespace iceblink::daemon
