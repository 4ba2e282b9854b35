#include "daemon/live_pointers.h"

#include <string_view>
#include <unordered_set>
#include <utility>

namespace iceblink::daemon {

Status for_each_pointer(const Store& store, const std::function<void(const shm::Change&)>& visit) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, store.read());
  return reading->for_each([&](const shm::Change& change) -> Status {
    if (!shm::is_namespace_class(change.kind)) visit(change);
    return Ok{};
  });
}

Result<std::vector<std::string>> without_named(const Store& store, const std::string& key,
                                               const TableRow& row,
                                               std::vector<std::string> locations) {
  const bool has_uuid = row.table_uuid != shm::Id{};
  const std::unordered_set<std::string> asked(locations.begin(), locations.end());
  std::unordered_set<std::string> named;
  bool has_another_name = false;
  ICEBLINK_RETURN_IF_ERROR(for_each_pointer(store, [&](const shm::Change& change) {
    std::string location(change.location);
    if (asked.contains(location)) named.insert(std::move(location));
    has_another_name =
        has_another_name || (has_uuid && change.table_uuid == row.table_uuid && change.key != key);
  }));
  if (has_another_name) return std::vector<std::string>{};
  std::erase_if(locations, [&](const auto& location) { return named.contains(location); });
  return locations;
}

}  // namespace iceblink::daemon
