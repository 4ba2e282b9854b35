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

/// Of a file of the store: too much for others, or too little for its owner.
bool check_store_mode(const PathFacts& file, mode_t wanted, Findings& findings) {
  const mode_t mode = file.permissions() & 0777;  // a set group id is inherited, and does no harm
  if (!file.exists() || mode == wanted) return true;
  const std::string found = file.path + " has mode " + mode_text(mode);
  const std::string remedy = "chmod " + mode_text(wanted) + " " + file.path;
  const bool is_shut = (mode & wanted) != wanted;
  // The file lies in the directory, which keeps others away from it.
  if (is_shut || (S_ISDIR(file.mode) && (mode & 0077) != 0)) {
    findings.problem("store", found, remedy);
  } else {
    findings.warn("store", found, remedy);
  }
  return false;
}

/// What says by its owner as whom the daemon runs; nullptr where that is in doubt.
const PathFacts* page_of_daemon(const RuntimeFacts& facts) {
  const bool is_certain = facts.directory.exists() && facts.control.exists() &&
                          facts.control.uid == facts.directory.uid;
  return is_certain ? &facts.control : nullptr;
}

bool check_store_owner(const DataFacts& facts, const PathFacts* control, Findings& findings) {
  if (control == nullptr) return true;
  for (const PathFacts* file : {&facts.store, &facts.store_file}) {
    if (!file->exists() || file->uid == control->uid) continue;
    findings.problem(
        "store",
        file->path + " is of " + file->owner + ", and the daemon runs as " + control->owner,
        "chown -R " + control->owner + " " + facts.store.path);
    return false;
  }
  return true;
}

bool check_data_owner(const DataFacts& facts, const PathFacts* control, Findings& findings) {
  const PathFacts& directory = facts.directory;
  const mode_t mode = directory.permissions();
  if (control != nullptr && directory.uid != control->uid) {
    const std::string found = directory.path + " is of " + directory.owner + " (" +
                              mode_text(mode) + "), and the daemon runs as " + control->owner;
    const std::string remedy = "chown " + control->owner + " " + directory.path;
    const bool may_enter =
        (mode & 0001) != 0 || ((mode & 0010) != 0 && directory.group == control->group);
    if (may_enter) {
      findings.warn("data-directory", found, remedy);
    } else {
      findings.problem("data-directory", found, remedy);
    }
    return false;
  }
  if (facts.warehouse.exists() && (mode & 0011) != 0011) {
    findings.warn("data-directory",
                  directory.path + " has mode " + mode_text(mode) +
                      ": others cannot come to the warehouse in it",
                  "chmod 0755 " + directory.path + ", if it is for them");
    return false;
  }
  return true;
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

void check_data_directory(const DataFacts& facts, const RuntimeFacts& runtime, Findings& findings) {
  const PathFacts* const control = page_of_daemon(runtime);
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
  is_good = check_data_owner(facts, control, findings) && is_good;
  is_good = check_store_mode(facts.store, 0700, findings) && is_good;
  is_good = check_store_mode(facts.store_file, 0600, findings) && is_good;
  is_good = check_store_owner(facts, control, findings) && is_good;
  is_good = check_warehouse(facts.warehouse, findings) && is_good;
  for (const KeptStore& kept : facts.kept_stores) {
    findings.ok("data-directory", directory.path + "/" + kept.name + ": kept by a restore" +
                                      (kept.bytes ? ", " + bytes_text(*kept.bytes) : "") +
                                      "; delete it when it is not needed");
  }
  for (const std::string& name : facts.unknown_names) {
    findings.warn("data-directory", directory.path + "/" + name + " is none of the daemon's files",
                  "see whose it is, and move it elsewhere");
    is_good = false;
  }
  if (is_good) findings.ok("data-directory", directory.path + " is as it should be");
}

void check_unit(const UnitFacts& facts, Findings& findings) {
  if (facts.name.empty() || facts.active.empty()) return;
  const std::string remedy =
      "journalctl -u " + facts.name + " says why; systemctl restart " + facts.name;
  const bool is_active = facts.active == "active" || facts.active == "reloading";
  const bool ended_well = facts.result.empty() || facts.result == "success";
  if (!is_active && !ended_well) {
    return findings.problem("unit", facts.name + " has failed (" + facts.result + ")", remedy);
  }
  if (facts.active == "failed") {
    return findings.problem("unit", facts.name + " has failed", remedy);
  }
  // A client that connects starts a unit that has failed again.
  if (facts.active == "activating") {
    return findings.problem("unit", facts.name + " is starting, or fails at each start",
                            "if that lasts, " + remedy);
  }
  if (!is_active) {
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
  check_data_directory(facts.data, facts.runtime, findings);
  check_unit(facts.unit, findings);
  return findings;
}

}  // namespace iceblink::cli
