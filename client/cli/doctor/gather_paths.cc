// Files, their owners, and the user who asks.
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "client/cli/doctor/gather.h"
#include "shm/layout.h"

namespace iceblink::cli {
namespace {

std::string user_name(uid_t uid) {
  const passwd* const entry = ::getpwuid(uid);
  return entry != nullptr ? entry->pw_name : std::to_string(uid);
}

std::string group_name(gid_t gid) {
  const group* const entry = ::getgrgid(gid);
  return entry != nullptr ? entry->gr_name : std::to_string(gid);
}

std::vector<PathFacts> parents_of(const std::string& directory) {
  std::vector<PathFacts> parents;
  std::error_code error;
  std::filesystem::path at = std::filesystem::absolute(directory, error).lexically_normal();
  if (!at.has_filename()) at = at.parent_path();
  while (at.has_relative_path()) {
    at = at.parent_path();
    // What they lead to, where they are links.
    const auto real = std::filesystem::canonical(at, error);
    if (!error) parents.push_back(path_facts_of(real.string()));
  }
  return parents;
}

bool has_listener(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return false;
  // EAGAIN: one who listens, and has much to do. EACCES: nobody can say who may not connect.
  const bool is_there =
      ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ||
      errno == EAGAIN || errno == EACCES;
  ::close(fd);
  return is_there;
}

}  // namespace

bool UserFacts::is_in(const std::string& group) const noexcept {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

PathFacts path_facts_of(const std::string& path) {
  PathFacts facts;
  facts.path = path;
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    facts.error = errno;
    return facts;
  }
  facts.mode = status.st_mode;
  facts.uid = status.st_uid;
  facts.owner = user_name(status.st_uid);
  facts.group = group_name(status.st_gid);
  return facts;
}

RuntimeFacts gather_runtime(const Invocation& invocation) {
  const std::string& directory = invocation.runtime_dir;
  RuntimeFacts facts;
  facts.instance = instance_of(directory);
  facts.parents = parents_of(directory);
  facts.directory = path_facts_of(directory);
  facts.control = path_facts_of(directory + "/" + shm::kControlName);
  facts.socket = path_facts_of(directory + "/" + shm::kSocketName);
  facts.files = runtime_files_of(directory);
  for (const ArenaFile& arena : facts.files.arenas) {
    facts.arenas.push_back(path_facts_of(directory + "/" + arena.name));
  }
  facts.room = room_of(directory);
  const auto catalog = invocation.open();
  facts.segment = catalog ? catalog->info() : Result<SegmentInfo>(catalog.error());
  if (catalog) facts.health = catalog->health();
  facts.daemon = ask_daemon(directory);
  facts.socket_has_listener = has_listener(directory + "/" + shm::kSocketName);
  facts.client_version = ICEBLINK_VERSION;
  return facts;
}

UserFacts gather_user() {
  UserFacts facts;
  facts.uid = ::geteuid();
  facts.name = user_name(facts.uid);
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(::getgroups(0, nullptr), 0)));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  groups.push_back(::getegid());
  for (const gid_t gid : groups) facts.groups.push_back(group_name(gid));
  return facts;
}

}  // namespace iceblink::cli
