#include "daemon/http/connection_registry.h"

#include <algorithm>
#include <cstdint>

#include "daemon/http/connection.h"

namespace iceblink::daemon::http {

using std::chrono::steady_clock;

void ConnectionRegistry::add(const std::shared_ptr<Connection>& connection) {
  const std::lock_guard lock(mutex_);
  open_.emplace(connection.get(), connection);
}

void ConnectionRegistry::remove(const Connection* connection) noexcept {
  const std::lock_guard lock(mutex_);
  open_.erase(connection);
  if (open_.empty()) emptied_.notify_all();
}

bool ConnectionRegistry::wait_empty(steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  emptied_.wait_until(lock, until, [this] { return open_.empty() || is_hurried_; });
  is_hurried_ = false;
  return open_.empty();
}

void ConnectionRegistry::hurry() {
  const std::lock_guard lock(mutex_);
  is_hurried_ = true;
  emptied_.notify_all();
}

std::size_t ConnectionRegistry::size() const {
  const std::lock_guard lock(mutex_);
  return open_.size();
}

std::vector<std::shared_ptr<Connection>> ConnectionRegistry::all() const {
  std::vector<std::shared_ptr<Connection>> out;
  const std::lock_guard lock(mutex_);
  out.reserve(open_.size());
  for (const auto& [address, weak] : open_) {
    if (auto connection = weak.lock()) out.push_back(std::move(connection));
  }
  return out;
}

std::size_t ConnectionRegistry::count(Transport transport) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      all(), [&](const auto& connection) { return connection->transport() == transport; }));
}

bool ConnectionRegistry::end_most_idle(std::optional<Transport> only) {
  auto connections = all();
  std::erase_if(connections,
                [&](const auto& connection) { return only && connection->transport() != *only; });
  for (;;) {
    const auto since = [](const auto& connection) { return connection->idle_since_ns(); };
    const auto found = std::ranges::min_element(connections, {}, since);
    if (found == connections.end()) return false;
    const std::int64_t since_ns = (*found)->idle_since_ns();
    if (since_ns == Connection::kNotIdle) return false;
    if ((*found)->end_idle(since_ns)) return true;  // else it has got a request: the next one
  }
}

}  // namespace iceblink::daemon::http
