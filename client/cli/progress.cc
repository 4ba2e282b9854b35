#include "client/cli/progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "client/cli/columns.h"
#include "client/cli/number_text.h"

namespace iceblink::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t kBarColumns = 24;

milliseconds since(steady_clock::time_point begin, steady_clock::time_point now) {
  return std::chrono::duration_cast<milliseconds>(now - begin);
}

}  // namespace

Progress::Progress(std::string_view what, std::optional<std::uint64_t> total, Shown shown)
    : what_(what), total_(total), begun_(steady_clock::now()) {
  is_terminal_ = ::isatty(STDERR_FILENO) == 1;
  is_shown_ = shown == Shown::kAlways || (shown == Shown::kOnTerminals && is_terminal_);
}

Progress::~Progress() {
  if (!is_shown_) return;
  draw(done_, steady_clock::now());
  if (is_terminal_) std::fputc('\n', stderr);
}

void Progress::show(std::uint64_t done) {
  done_ = done;
  if (!is_shown_) return;
  const auto now = steady_clock::now();
  if (now - drawn_ < (is_terminal_ ? milliseconds(100) : milliseconds(1000))) return;
  draw(done, now);
}

void Progress::draw(std::uint64_t done, steady_clock::time_point now) {
  drawn_ = now;
  const std::string line = line_of(what_, done, total_, since(begun_, now));
  if (is_terminal_) {
    std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
  } else {
    std::fprintf(stderr, "%s\n", line.c_str());
  }
  std::fflush(stderr);
}

std::string Progress::line_of(std::string_view what, std::uint64_t done,
                              std::optional<std::uint64_t> total, milliseconds elapsed) {
  std::string line;
  if (total) {
    const double share =
        *total == 0 ? 1.0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(*total));
    const auto filled = static_cast<std::size_t>(share * double{kBarColumns});
    const std::string percent = std::to_string(static_cast<unsigned>(share * 100));
    line = "[" + std::string(filled, '#') + std::string(kBarColumns - filled, '.') + "] " +
           std::string(3 - std::min<std::size_t>(3, percent.size()), ' ') + percent + " %  " +
           grouped(done) + "/" + grouped(*total);
  } else {
    line = grouped(done);
  }
  line += ' ';
  line += what;
  const auto elapsed_ms = static_cast<std::uint64_t>(elapsed.count());
  if (elapsed_ms < 500 || done == 0) return line;
  const std::uint64_t per_s = done * 1000 / elapsed_ms;
  line += ", " + grouped(per_s) + "/s";
  if (total && *total > done && per_s > 0) {
    line += ", " + grouped((*total - done) / per_s) + " s left";
  }
  return fit(line, kColumns - 1);
}

}  // namespace iceblink::cli
