// What the kernel allows this process.
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <limits>

#include "client/cli/doctor/gather.h"
#include "client/ring.h"
#include "shm/read_section.h"

namespace iceblink::cli {
namespace {

std::optional<std::uint64_t> number_in(const char* path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The choice in brackets: "always within_size [never]".
std::string choice_in(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const auto begin = line.find('[');
  const auto end = line.find(']');
  return begin == std::string::npos || end < begin ? "" : line.substr(begin + 1, end - begin - 1);
}

bool is_filtered() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Seccomp:")) return line.back() != '0';
  }
  return false;
}

/// A wait on a word that is not what is expected returns at once, if it is let in at all.
int futex_error_of_read_only_mapping() {
  const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const int fd = ::memfd_create("iceblink-doctor", MFD_CLOEXEC);
  if (fd < 0) return errno;
  void* const page = ::ftruncate(fd, static_cast<off_t>(bytes)) == 0
                         ? ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0)
                         : MAP_FAILED;
  int error = page == MAP_FAILED ? errno : 0;
  ::close(fd);
  if (page == MAP_FAILED) return error;
  const timespec at_once{0, 1};
  const long waited = ::syscall(SYS_futex, page, FUTEX_WAIT, 1, &at_once, nullptr, 0);
  if (waited != 0 && errno != EAGAIN && errno != ETIMEDOUT) error = errno;
  ::munmap(page, bytes);
  return error;
}

int openat2_error() {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH;
  const long fd = ::syscall(SYS_openat2, AT_FDCWD, ".", &how, sizeof(how));
  if (fd < 0) return errno;
  ::close(static_cast<int>(fd));
  return 0;
}

std::uint64_t limit_of(__rlimit_resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0) return 0;
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<std::uint64_t>::max()
                                         : std::uint64_t{limit.rlim_cur};
}

}  // namespace

KernelFacts gather_kernel() {
  KernelFacts facts;
  const auto ring = client::Ring::make(8);
  if (!ring) facts.io_uring_refusal = ring.error().message();
  facts.io_uring_disabled = number_in("/proc/sys/kernel/io_uring_disabled");
  facts.is_filtered = is_filtered();
  facts.offers_membarrier = !shm::readers_use_fences();
  facts.futex_error = futex_error_of_read_only_mapping();
  facts.openat2_error = openat2_error();
  facts.file_max = number_in("/proc/sys/fs/file-max");
  facts.max_map_count = number_in("/proc/sys/vm/max_map_count");
  facts.open_files_max = limit_of(RLIMIT_NOFILE);
  facts.locked_bytes_max = limit_of(RLIMIT_MEMLOCK);
  facts.shmem_huge_pages = choice_in("/sys/kernel/mm/transparent_hugepage/shmem_enabled");
  struct sysinfo memory {};
  if (::sysinfo(&memory) == 0) facts.swap_bytes = std::uint64_t{memory.totalswap} * memory.mem_unit;
  return facts;
}

}  // namespace iceblink::cli
