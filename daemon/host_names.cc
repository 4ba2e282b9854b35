#include "daemon/host_names.h"

#include <grp.h>
#include <pwd.h>

#include <cerrno>
#include <cstring>
#include <vector>

namespace iceblink::daemon {
namespace {

/// `look_up` is getpwnam_r or getgrnam_r, `id_of` takes the number out of what it finds.
template <typename Id, typename Entry, typename LookUp, typename IdOf>
Result<std::optional<Id>> id_of_name(const std::string& name, LookUp look_up, IdOf id_of) {
  std::vector<char> room(4096);
  for (;;) {
    Entry entry{};
    Entry* found = nullptr;
    const int code = look_up(name.c_str(), &entry, room.data(), room.size(), &found);
    if (code == EINTR) continue;
    if (code == ERANGE) {
      room.resize(room.size() * 2);
      continue;
    }
    if (found != nullptr) return std::optional<Id>(id_of(*found));
    // All of these mean that there is none (getpwnam(3)).
    if (code == 0 || code == ENOENT || code == ESRCH || code == EBADF || code == EPERM) {
      return std::optional<Id>();
    }
    return {ErrorKind::kIo, "cannot look up '" + name + "': " + std::strerror(code)};
  }
}

}  // namespace

Result<std::optional<uid_t>> find_user(const std::string& name) {
  return id_of_name<uid_t, passwd>(name, ::getpwnam_r,
                                   [](const passwd& user) { return user.pw_uid; });
}

Result<std::optional<gid_t>> find_group(const std::string& name) {
  return id_of_name<gid_t, group>(name, ::getgrnam_r,
                                  [](const group& found) { return found.gr_gid; });
}

}  // namespace iceblink::daemon
