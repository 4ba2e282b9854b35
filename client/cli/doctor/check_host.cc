// The data directory, and systemd's unit.
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "client/cli/doctor/checks.h"
#include "client/cli/doctor/mode_text.h"
#include "client/cli/number_text.h"

namespace iceblink::cli {
namespace {

constexpr std::uint64_t kFreeBytesMin = std::uint64_t{1} << 30;
constexpr mode_t kWarehouseMode = 02775;

bool check_store(const PathFacts& store, Findings& findings) {
  if (!store.exists() || store.permissions() == 0700) return true;
  const bool is_open = (store.permissions() & 0077) != 0;
  const std::string found = store.path + " has mode " + mode_text(store.permissions());
  const std::string remedy = "chmod 0700 " + store.path;
  if (is_open) {
    findings.problem("store", found, remedy);
  } else {
    findings.warn("store", found, remedy);
  }
  return false;
}

bool check_warehouse(const PathFacts& warehouse, Findings& findings) {
  if (!warehouse.exists()) return true;
  const mode_t mode = warehouse.permissions();
  if ((mode & 0002) != 0) {
    findings.problem("warehouse",
                     warehouse.path + " can be written by every user (" + mode_text(mode) + ")",
                     "chmod 2775 " + warehouse.path);
    return false;
  }
  if (mode != kWarehouseMode || warehouse.group != kWritersGroup) {
    findings.warn(
        "warehouse",
        warehouse.path + " has mode " + mode_text(mode) + " and the group " + warehouse.group,
        std::string("chgrp ") + kWritersGroup + " and chmod 2775 " + warehouse.path +
            ": engines write data files there, and readers open them");
    return false;
  }
  return true;
}

}  // namespace

void check_data_directory(const DataFacts& facts, Findings& findings) {
  const PathFacts& directory = facts.directory;
  if (!directory.exists()) {
    if (facts.is_asked_for) {
      findings.problem("data-directory", directory.path + ": " + std::strerror(directory.error),
                       "name the daemon's --data-dir");
    }
    return;
  }
  if (!S_ISDIR(directory.mode)) {
    return findings.problem("data-directory", directory.path + " is not a directory",
                            "name the daemon's --data-dir");
  }
  bool is_good = true;
  if (facts.is_network) {
    findings.problem("data-directory",
                     directory.path + " is on a network file system (" + facts.file_system + ")",
                     "put it on a local disk: LMDB needs one, and the daemon refuses others");
    is_good = false;
  }
  if (facts.room && facts.room->free_bytes < kFreeBytesMin) {
    findings.warn("data-directory",
                  directory.path + ": " + bytes_text(facts.room->free_bytes) + " free",
                  "make room: commits are refused when the disk is full");
    is_good = false;
  }
  is_good = check_store(facts.store, findings) && is_good;
  is_good = check_warehouse(facts.warehouse, findings) && is_good;
  for (const std::string& name : facts.unknown_names) {
    findings.warn("data-directory", directory.path + "/" + name + " is none of the daemon's files",
                  "see whose it is, and move it elsewhere");
    is_good = false;
  }
  if (is_good) findings.ok("data-directory", directory.path + " is as it should be");
}

void check_unit(const UnitFacts& facts, Findings& findings) {
  if (facts.name.empty() || facts.active.empty()) return;
  if (facts.active == "failed") {
    return findings.problem(
        "unit", facts.name + " has failed",
        "journalctl -u " + facts.name + " says why; systemctl restart " + facts.name);
  }
  if (facts.active != "active") {
    return findings.warn("unit", facts.name + " is " + facts.active,
                         "systemctl start " + facts.name);
  }
  if (facts.enabled == "disabled") {
    return findings.warn("unit", facts.name + " does not start with the host",
                         "systemctl enable " + facts.name);
  }
  findings.ok("unit", facts.name + " is active, " + facts.enabled);
}

Findings check_all(const Facts& facts) {
  Findings findings;
  check_runtime_directory(facts.runtime, findings);
  check_tmpfs_size(facts.runtime, findings);
  check_permissions(facts.runtime, facts.user, findings);
  check_user(facts.runtime, facts.user, findings);
  check_segment(facts.runtime, findings);
  check_daemon(facts.runtime, findings);
  check_versions(facts.runtime, findings);
  check_leftovers(facts.runtime, findings);
  check_io_uring(facts.kernel, findings);
  check_calls(facts.kernel, findings);
  check_limits(facts.kernel, findings);
  check_memory(facts.kernel, findings);
  check_data_directory(facts.data, findings);
  check_unit(facts.unit, findings);
  return findings;
}

}  // namespace iceblink::cli
