#include "client/cli/snapshot_choice.h"

#include <charconv>

namespace iceblink::cli {

Result<const TableSnapshot*> SnapshotChoice::find_in(const Table& table) const {
  if (snapshot_id) return table.snapshot(*snapshot_id);
  if (ref) return table.snapshot_of_ref(*ref);
  if (as_of_ms) return table.snapshot_as_of(*as_of_ms);
  return table.current_snapshot();
}

Result<const TableSnapshot*> snapshot_named(const Table& table, const std::string& name) {
  std::int64_t id = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (error != std::errc() || end != name.data() + name.size()) return table.snapshot_of_ref(name);
  auto found = table.snapshot(id);
  const bool is_ref = !found && found.error().kind() == ErrorKind::kNotFound &&
                      table.metadata().find_ref(name) != nullptr;
  return is_ref ? table.snapshot_of_ref(name) : found;
}

}  // namespace iceblink::cli
