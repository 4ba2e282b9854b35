// What the daemon's store says, over HTTP: its log, and all that it holds.
//
// Thread safety: one thread.
#pragma once

#include <iceblink/result.h>

#include <map>
#include <string>
#include <vector>

#include "client/daemon_client.h"
#include "stress/history.h"

namespace iceblink::stress {

class DaemonLog {
 public:
  DaemonLog(const KeySpace& keys, const std::string& runtime_dir);

  struct Part {
    std::map<std::uint64_t, std::vector<Change>> generations;
    std::uint64_t reached = 0;  // nothing else happened up to there
    bool has_more = false;
  };
  /// kNoDaemon, kTimedOut, kBusy: not now. kCorrupt: a name that nobody made; kGone.
  [[nodiscard]] Result<Part> after(std::uint64_t generation);

  /// The store's objects, by key, at one generation; those that are absent are left out.
  struct Listing {
    std::uint64_t generation = 0;
    std::map<Key, Value> values;
  };
  [[nodiscard]] Result<Listing> objects();

 private:
  const KeySpace& keys_;
  client::DaemonClient daemon_;
};

}  // namespace iceblink::stress
