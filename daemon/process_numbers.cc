#include "daemon/process_numbers.h"

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace iceblink::daemon {
namespace {

std::uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::uint64_t total_pages = 0;
  std::uint64_t resident_pages = 0;
  statm >> total_pages >> resident_pages;
  return resident_pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

std::uint64_t open_fd_count() {
  std::error_code error;
  std::filesystem::directory_iterator entries("/proc/self/fd", error);
  std::uint64_t count = 0;
  while (!error && entries != std::filesystem::directory_iterator()) {
    ++count;
    entries.increment(error);
  }
  return count > 0 ? count - 1 : 0;  // without the one that reads them
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// proc_pid_stat(5): field 22, in clock ticks after boot. The name before it may hold anything.
double start_time_s() {
  constexpr int kFieldsBetween = 19;
  std::ifstream stat("/proc/self/stat");
  const std::string text{std::istreambuf_iterator<char>(stat), std::istreambuf_iterator<char>()};
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i) fields >> skipped;
  double ticks = 0;
  fields >> ticks;
  timespec now{};
  timespec since_boot{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  ::clock_gettime(CLOCK_BOOTTIME, &since_boot);
  const double boot_s = static_cast<double>(now.tv_sec - since_boot.tv_sec);
  return boot_s + ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

ProcessNumbers process_numbers() {
  ProcessNumbers numbers;
  numbers.resident_bytes = resident_bytes();
  numbers.open_fd_count = open_fd_count();
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) numbers.fd_count_max = limit.rlim_cur;
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0) {
    numbers.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  static const double started_s = start_time_s();
  numbers.start_time_s = started_s;
  return numbers;
}

}  // namespace iceblink::daemon
