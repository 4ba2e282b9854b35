// The runtime directory: what is in it, who may read it, and who serves it.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "client/cli/doctor/checks.h"
#include "client/cli/doctor/mode_text.h"
#include "client/cli/number_text.h"
#include "shm/layout.h"

namespace iceblink::cli {
namespace {

constexpr mode_t kWorld = 0007;
constexpr mode_t kGroup = 0070;
constexpr mode_t kGroupWrite = 0020;

bool is_there(const RuntimeFacts& facts) {
  return facts.directory.exists() && S_ISDIR(facts.directory.mode);
}

/// The bytes of the arena that readers use.
std::uint64_t current_arena_bytes(const RuntimeFacts& facts) {
  for (const ArenaFile& arena : facts.files.arenas) {
    if (facts.segment && arena.epoch == facts.segment->epoch) return arena.file_bytes;
  }
  return 0;
}

/// What a file is wanted with: `needed` bits, and none of `refused`.
struct ModeRule {
  mode_t needed;
  mode_t refused;
};
constexpr ModeRule kDirectoryMode{0750, kWorld | kGroupWrite};
constexpr ModeRule kFileMode{0640, kWorld | kGroupWrite};
// It is for its group, too; what that may do is the daemon's to say.
constexpr ModeRule kSocketMode{0660, 0002};

/// True when something was found.
bool check_mode(const PathFacts& file, const ModeRule& rule, Findings& findings) {
  const mode_t mode = file.permissions();
  const mode_t missing = rule.needed & ~mode;
  std::string found;
  if ((mode & rule.refused & kWorld) != 0) {
    found = "is open to every user";
  } else if ((mode & rule.refused) != 0) {
    found = "can be written by its group";
  } else if (missing != 0) {
    found = (missing & kGroup) != 0 ? "is closed to its group" : "is closed to its owner";
  }
  if (found.empty()) return false;
  findings.problem("permissions", file.path + " " + found + " (" + mode_text(mode) + ")",
                   "chmod " + mode_text(rule.needed) + " " + file.path);
  return true;
}

/// What the daemon makes in its directory, as far as it is there.
std::vector<const PathFacts*> contents_of(const RuntimeFacts& facts) {
  std::vector<const PathFacts*> contents;
  const auto add = [&](const PathFacts& file) {
    if (file.exists()) contents.push_back(&file);
  };
  add(facts.control);
  for (const PathFacts& arena : facts.arenas) add(arena);
  add(facts.socket);
  return contents;
}

bool check_owners(const RuntimeFacts& facts, Findings& findings) {
  const PathFacts& directory = facts.directory;
  const auto contents = contents_of(facts);
  const auto is_other = [&](const PathFacts* file) { return file->uid != directory.uid; };
  if (std::none_of(contents.begin(), contents.end(), is_other)) return false;
  if (std::all_of(contents.begin(), contents.end(), is_other)) {
    const std::string& owner = contents.front()->owner;
    findings.problem(
        "owner", directory.path + " is of " + directory.owner + ", and what is in it of " + owner,
        "chown " + owner + " " + directory.path);
    return true;
  }
  for (const PathFacts* file : contents) {
    if (!is_other(file)) continue;
    findings.problem(
        "owner", file->path + " is of " + file->owner + ", and its directory of " + directory.owner,
        "stop the daemon, remove what is not its user's, and start it again");
  }
  return true;
}

bool check_groups(const RuntimeFacts& facts, Findings& findings) {
  const PathFacts& directory = facts.directory;
  const auto contents = contents_of(facts);
  const auto is_other = [&](const PathFacts* file) { return file->group != directory.group; };
  const std::string found = directory.path + " is of the group " + directory.group + ", not ";
  if (std::all_of(contents.begin(), contents.end(), is_other)) {
    const std::string& group = contents.front()->group;
    findings.problem("group", found + group + " as what is in it",
                     "chgrp " + group + " " + directory.path);
    return true;
  }
  bool is_bad = false;
  for (const PathFacts* file : contents) {
    if (!is_other(file)) continue;
    findings.problem("group",
                     file->path + " is of the group " + file->group + ", and its directory of " +
                         directory.group,
                     "chgrp " + directory.group + " " + file->path);
    is_bad = true;
  }
  if (directory.group != kReadersGroup) {
    findings.warn("group", found + kReadersGroup,
                  "set Group= of the unit; a group that is set by hand is lost at the next start");
    is_bad = true;
  }
  return is_bad;
}

bool check_parents(const RuntimeFacts& facts, Findings& findings) {
  bool is_bad = false;
  for (const PathFacts& parent : facts.parents) {
    const mode_t mode = parent.permissions();
    const bool is_open_to_group = (mode & 0010) != 0 && parent.group == facts.directory.group;
    if (!parent.exists() || (mode & 0001) != 0 || is_open_to_group) continue;
    const std::string found = parent.path + " lets no reader through (" + mode_text(mode) + ")";
    const std::string remedy = "chmod o+x " + parent.path;
    // An instance that one user has for himself may lie in a directory of his.
    if (facts.directory.group == kReadersGroup) {
      findings.problem("permissions", found, remedy);
    } else {
      findings.warn("permissions", found, remedy);
    }
    is_bad = true;
  }
  return is_bad;
}

std::string start_of(const RuntimeFacts& facts) {
  return facts.instance.empty() ? "start the daemon"
                                : "systemctl start iceblinkd@" + facts.instance;
}

bool has_daemon(const RuntimeFacts& facts) {
  return facts.daemon.is_alive || facts.daemon.refusal;
}

}  // namespace

void check_runtime_directory(const RuntimeFacts& facts, Findings& findings) {
  const PathFacts& directory = facts.directory;
  if (!directory.exists()) {
    return findings.problem("runtime-directory",
                            directory.path + ": " + std::strerror(directory.error),
                            start_of(facts) + ", or name its directory by --dir");
  }
  if (!S_ISDIR(directory.mode)) {
    return findings.problem("runtime-directory", directory.path + " is not a directory",
                            "name the daemon's --runtime-dir by --dir");
  }
  if (facts.room && !facts.room->is_tmpfs) {
    return findings.warn("runtime-directory", directory.path + " is not on a tmpfs",
                         "put it below /run: on a disk every commit is written back");
  }
  findings.ok("runtime-directory", directory.path + " is there, on a tmpfs");
}

void check_tmpfs_size(const RuntimeFacts& facts, Findings& findings) {
  const std::uint64_t arena = current_arena_bytes(facts);
  if (!facts.room || facts.room->size_bytes == 0 || arena == 0) return;
  const FileSystemRoom& room = *facts.room;
  const std::string found = facts.directory.path + ": " + bytes_text(room.size_bytes) + ", " +
                            bytes_text(room.free_bytes) + " free, for an arena of " +
                            bytes_text(arena);
  const std::string remedy =
      "make it larger (mount -o remount,size=" + std::to_string((3 * arena >> 20) + 1) +
      "m MOUNT_POINT): two arenas fit while one is replaced";
  if (room.size_bytes < 2 * arena || room.free_bytes < arena / 2) {
    return findings.problem("tmpfs-size", found, remedy);
  }
  if (room.size_bytes < 3 * arena) return findings.warn("tmpfs-size", found, remedy);
  findings.ok("tmpfs-size", found);
}

void check_permissions(const RuntimeFacts& facts, const UserFacts& user, Findings& findings) {
  // A directory without a control page is none of ours to judge: it may have been named by mistake.
  if (!is_there(facts) || facts.control.error == ENOENT) return;
  bool is_bad = check_mode(facts.directory, kDirectoryMode, findings);
  is_bad = check_parents(facts, findings) || is_bad;
  if (!facts.control.exists()) return;  // and may not be looked at
  is_bad = check_mode(facts.control, kFileMode, findings) || is_bad;
  for (const PathFacts& arena : facts.arenas) {
    if (arena.exists()) is_bad = check_mode(arena, kFileMode, findings) || is_bad;
  }
  if (facts.socket.exists()) is_bad = check_mode(facts.socket, kSocketMode, findings) || is_bad;
  is_bad = check_owners(facts, findings) || is_bad;
  is_bad = check_groups(facts, findings) || is_bad;
  if (facts.control.exists() && facts.control.uid == user.uid && user.uid != 0) {
    findings.warn("owner", facts.control.path + " is of " + user.name + ", as whom this runs",
                  "run the daemon as a user of its own: another process of the same user could "
                  "cut the segment short under its readers");
    is_bad = true;
  }
  if (!is_bad) {
    findings.ok("permissions", "directory, control, arenas and socket are for " +
                                   facts.directory.owner + " and " + facts.directory.group);
  }
}

void check_user(const RuntimeFacts& facts, const UserFacts& user, Findings& findings) {
  if (user.uid == 0) return findings.ok("user", "root may read and write");
  const bool may_read =
      is_there(facts) && (user.is_in(facts.directory.group) || user.uid == facts.directory.uid ||
                          (facts.directory.permissions() & 0005) == 0005);
  const bool may_write = user.is_in(kWritersGroup) || user.uid == facts.directory.uid;
  const std::string add = "usermod -aG ";
  if (!may_read) {
    return findings.warn("user", user.name + " may not read: not in " + kReadersGroup,
                         add + kReadersGroup + " " + user.name + ", and log in again");
  }
  findings.ok("user", user.name + (may_write ? " may read and write"
                                             : " may read, and not write: that needs " +
                                                   std::string(kWritersGroup)));
}

void check_segment(const RuntimeFacts& facts, Findings& findings) {
  if (!is_there(facts)) return;
  if (facts.segment) {
    return findings.ok("segment",
                       "can be attached, layout version " + std::to_string(shm::kLayoutVersion));
  }
  const Error& error = facts.segment.error();
  std::string remedy = start_of(facts);
  if (error.kind() == ErrorKind::kIncompatible) {
    remedy = "install the client and the daemon of one version, and restart the daemon";
  } else if (error.kind() == ErrorKind::kCorrupt) {
    remedy = "restart the daemon: it builds a segment anew";
  } else if (error.kind() == ErrorKind::kNotAllowed) {
    remedy = std::string("join the group ") + kReadersGroup;
  }
  findings.problem("segment", error.message(), remedy);
}

void check_daemon(const RuntimeFacts& facts, Findings& findings) {
  if (!is_there(facts)) return;
  if (!facts.daemon.is_alive) {
    const bool is_refused = facts.daemon.refusal.has_value();
    std::string found = is_refused ? "may not be asked by this user" : "does not answer";
    if (facts.segment) {
      found += facts.health.pid == 0 ? "; it stopped in order, " : "; its last sign of life was ";
      found += duration_text(facts.health.heartbeat_age) + " ago";
    }
    if (is_refused && facts.segment && facts.health.pid != 0 && !facts.health.is_stale) {
      return findings.warn("daemon", found, "join the group " + facts.socket.group);
    }
    const std::string journal =
        facts.instance.empty() ? "its log" : "journalctl -u iceblinkd@" + facts.instance;
    return findings.problem("daemon", found,
                            start_of(facts) + "; " + journal + " says why it ended");
  }
  if (facts.daemon.not_ready) {
    return findings.warn("daemon", "is not ready: " + *facts.daemon.not_ready,
                         "wait, and look into its log when that takes long");
  }
  if (facts.segment && facts.health.is_stale) {
    return findings.warn("daemon",
                         "answers, but its last sign of life in the segment is " +
                             duration_text(facts.health.heartbeat_age) + " old",
                         "see whether another directory is mounted here than the daemon's");
  }
  findings.ok("daemon", "answers, pid " + std::to_string(facts.health.pid));
}

void check_versions(const RuntimeFacts& facts, Findings& findings) {
  if (!facts.segment) return;
  if (facts.segment->daemon_version != facts.client_version) {
    return findings.warn("versions",
                         "the daemon is of version " + facts.segment->daemon_version +
                             ", this program of " + facts.client_version,
                         "restart the daemon after an upgrade; install both of one version");
  }
  findings.ok("versions", "daemon and client are of version " + facts.client_version);
}

void check_leftovers(const RuntimeFacts& facts, Findings& findings) {
  if (!is_there(facts)) return;
  bool is_clean = true;
  const auto warn = [&](const std::string& found, const std::string& remedy) {
    findings.warn("leftovers", found, remedy);
    is_clean = false;
  };
  for (const ArenaFile& arena : facts.files.arenas) {
    if (!facts.segment || arena.epoch == facts.segment->epoch) continue;
    // The next one is being built, for as long as there is a daemon to build it.
    if (has_daemon(facts) && arena.epoch == facts.segment->epoch + 1) continue;
    warn(facts.directory.path + "/" + arena.name + " is used by nobody, and takes " +
             bytes_text(arena.taken_bytes),
         "restart the daemon: it removes such files when it starts");
  }
  if (facts.files.has_control_draft && !has_daemon(facts)) {
    warn(facts.directory.path + "/control.new is left of a start that was interrupted",
         "start the daemon: it removes such files when it starts");
  }
  if (facts.socket.exists() && !facts.socket_has_listener) {
    warn(facts.socket.path + ": nobody listens there",
         "start the daemon: it replaces a stale socket");
  }
  if (is_clean) findings.ok("leftovers", "none in " + facts.directory.path);
}

}  // namespace iceblink::cli
