// What the kernel allows, and what it costs where it does not.
#include <cstring>

#include "client/cli/doctor/checks.h"
#include "client/cli/number_text.h"

namespace iceblink::cli {
namespace {

constexpr std::uint64_t kOpenFilesMin = 1024;
constexpr std::uint64_t kFileMaxMin = 65'536;
constexpr std::uint64_t kMapCountMin = 65'530;       // the kernel's own default
constexpr std::uint64_t kLockedBytesMin = 64 << 10;  // what rings were charged to once

}  // namespace

void check_io_uring(const KernelFacts& facts, Findings& findings) {
  if (facts.io_uring_refusal.empty()) return findings.ok("io-uring", "may be used");
  std::string found = "is refused (" + facts.io_uring_refusal + ")";
  std::string remedy = "allow it to the process: metadata files are read one by one without it";
  if (facts.io_uring_disabled.value_or(0) != 0) {
    found += ", kernel.io_uring_disabled is " + std::to_string(*facts.io_uring_disabled);
    remedy = "sysctl kernel.io_uring_disabled=0: metadata files are read one by one without it";
  } else if (facts.is_filtered) {
    found += ", and this process runs under seccomp";
    remedy =
        "allow io_uring_setup and io_uring_enter in its seccomp profile: metadata files are "
        "read one by one without them";
  }
  findings.warn("io-uring", found, remedy);
}

void check_calls(const KernelFacts& facts, Findings& findings) {
  if (facts.offers_membarrier) {
    findings.ok("membarrier", "is offered");
  } else {
    findings.warn("membarrier", "is not offered: each lookup uses a fence, a nanosecond or so",
                  "allow membarrier in the seccomp profile; needs Linux 4.14");
  }
  if (facts.futex_error == 0) {
    findings.ok("futex", "waits on a mapping that can only be read");
  } else {
    findings.problem("futex",
                     std::string("cannot wait on a mapping that can only be read: ") +
                         std::strerror(facts.futex_error),
                     "allow futex in the seccomp profile: clients cannot wait for changes without");
  }
  if (facts.openat2_error == 0) {
    findings.ok("openat2", "works");
  } else {
    findings.warn("openat2", std::string("does not work: ") + std::strerror(facts.openat2_error),
                  "allow it in the seccomp profile; needs Linux 5.6: the daemon does not start "
                  "without, and directories that files may be read below cannot be set");
  }
}

void check_limits(const KernelFacts& facts, Findings& findings) {
  if (facts.open_files_max < kOpenFilesMin) {
    findings.warn("open-files",
                  "this process may have " + grouped(facts.open_files_max) + " files open",
                  "ulimit -n " + std::to_string(kOpenFilesMin) + ", or LimitNOFILE= of a unit");
  } else if (facts.file_max.value_or(kFileMaxMin) < kFileMaxMin) {
    findings.warn("open-files", "fs.file-max is " + grouped(*facts.file_max) + " for all processes",
                  "sysctl fs.file-max=" + std::to_string(kFileMaxMin));
  } else {
    findings.ok("open-files", "enough of them may be open");
  }
  if (facts.max_map_count.value_or(kMapCountMin) < kMapCountMin) {
    findings.warn("mappings", "vm.max_map_count is " + grouped(*facts.max_map_count),
                  "sysctl vm.max_map_count=" + std::to_string(kMapCountMin));
  } else {
    findings.ok("mappings", "enough of them may be made");
  }
  if (facts.locked_bytes_max < kLockedBytesMin) {
    findings.warn(
        "locked-memory",
        "RLIMIT_MEMLOCK is " + bytes_text(facts.locked_bytes_max) +
            ", which rings count against before Linux 5.12",
        "ulimit -l " + std::to_string(kLockedBytesMin >> 10) + ", or LimitMEMLOCK= of a unit");
  } else {
    findings.ok("locked-memory", "enough of it is allowed");
  }
}

void check_memory(const KernelFacts& facts, Findings& findings) {
  if (facts.swap_bytes > 0) {
    findings.warn("swap",
                  bytes_text(facts.swap_bytes) +
                      " of swap: pages of a tmpfs may be swapped out, and "
                      "a lookup wait for a disk",
                  "mount the tmpfs with noswap (Linux 6.4), or do without swap");
  } else {
    findings.ok("swap", "none");
  }
  if (facts.shmem_huge_pages == "deny") {
    findings.warn("huge-pages",
                  "denied to shared memory: lookups in large catalogs take up to twice as long",
                  "write never into /sys/kernel/mm/transparent_hugepage/shmem_enabled: the daemon "
                  "asks for those that it needs");
  } else if (!facts.shmem_huge_pages.empty()) {
    findings.ok(
        "huge-pages",
        "of shared memory: " + facts.shmem_huge_pages +
            " (from Linux 6.1 on the daemon asks for them itself; before, the tmpfs is to be "
            "mounted with huge=always)");
  }
}

}  // namespace iceblink::cli
