#include "daemon/http/event_loop.h"

#include <filesystem>
#include <fstream>
#include <string>

namespace iceblink::daemon::http {
namespace {

namespace fs = std::filesystem;

/// "anon_inode:[eventfd]"; empty: it is not there.
std::string kind_of(const fs::path& descriptor) {
  std::error_code error;
  return fs::read_symlink(descriptor, error).string();
}

/// Lines "tfd: NUMBER events: …", one for each descriptor that it watches.
Status check_event_loop(const std::string& number) {
  std::ifstream info("/proc/self/fdinfo/" + number);
  bool has_timers = false;
  bool has_wakes = false;
  for (std::string word; info >> word;) {
    if (word != "tfd:" || !(info >> word)) continue;
    const std::string kind = kind_of("/proc/self/fd/" + word);
    has_timers = has_timers || kind == "anon_inode:[timerfd]";
    has_wakes = has_wakes || kind == "anon_inode:[eventfd]";
  }
  if (!info.eof() || (has_timers && has_wakes)) return Ok{};
  return {ErrorKind::kIo, std::string("epoll_ctl: the event loop of the HTTP server watches no ") +
                              (has_wakes ? "timers" : "wakes") +
                              "; is fs.epoll.max_user_watches reached?"};
}

}  // namespace

std::set<std::string> event_loops() {
  std::set<std::string> loops;
  std::error_code error;
  for (fs::directory_iterator at("/proc/self/fd", error), end; !error && at != end;
       at.increment(error)) {
    if (kind_of(at->path()) == "anon_inode:[eventpoll]") loops.insert(at->path().filename());
  }
  return loops;
}

Status check_event_loops(const std::set<std::string>& others) {
  for (const auto& loop : event_loops()) {
    if (!others.contains(loop)) ICEBLINK_RETURN_IF_ERROR(check_event_loop(loop));
  }
  return Ok{};
}

}  // namespace iceblink::daemon::http
