// The connections of a server that are open.
//
// Thread safety: from any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "daemon/http/listener.h"

namespace iceblink::daemon::http {

class Connection;

/// Outlives the connections: each holds it.
class ConnectionRegistry {
 public:
  void add(const std::shared_ptr<Connection>& connection);
  void remove(const Connection* connection) noexcept;
  [[nodiscard]] std::size_t size() const;
  /// Those over one transport. Takes time in proportion to all.
  [[nodiscard]] std::size_t count(Transport transport) const;
  /// Those that are open now.
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> all() const;
  /// Ends the one that waits longest for a request, if one does; `only`: of that transport. Takes
  /// time in proportion to all.
  [[nodiscard]] bool end_most_idle(std::optional<Transport> only);
  /// True once none is left; false at `until`, or when hurry() was called.
  [[nodiscard]] bool wait_empty(std::chrono::steady_clock::time_point until);
  /// Ends the wait that runs, or else the next.
  void hurry();

 private:
  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  bool is_hurried_ = false;                                                // guarded by mutex_
  std::unordered_map<const Connection*, std::weak_ptr<Connection>> open_;  // guarded by mutex_
};

}  // namespace iceblink::daemon::http
