// Which users and groups of this host may read and write over the Unix socket.
//
// Thread safety: immutable.
#pragma once

#include <iceblink/result.h>

#include <vector>

#include "daemon/http/caller.h"
#include "daemon/http/peer_credentials.h"
#include "daemon/http/unmapped_ids.h"
#include "daemon/settings.h"

namespace iceblink::daemon::http {

class AccessRules {
 public:
  /// Root and this process's user alone.
  explicit AccessRules(UnmappedIds unmapped = UnmappedIds::of_this_process());
  /// Names become numbers here and never again. Writers may read. `unmapped` are nobody, whatever
  /// the lists say. kInvalidArgument: a name that was asked for and that this host does not have,
  /// or that is one of those; kIo: the host's user database.
  [[nodiscard]] static Result<AccessRules> of(
      const PeerList& readers, const PeerList& writers,
      UnmappedIds unmapped = UnmappedIds::of_this_process());

  [[nodiscard]] Access access_of(const PeerCredentials& peer) const noexcept;

 private:
  struct Peers {
    std::vector<uid_t> users;
    std::vector<gid_t> groups;
  };
  [[nodiscard]] Status add(const PeerList& list, const char* setting, Peers& peers) const;
  [[nodiscard]] bool has(const Peers& peers, const PeerCredentials& peer) const noexcept;

  UnmappedIds unmapped_;
  Peers readers_;
  Peers writers_;
};

}  // namespace iceblink::daemon::http
