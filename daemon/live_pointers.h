// What else in the catalog has a file, before it is deleted.
//
// Thread safety: pure functions on a store, which is read as it is at the time. O(tables and
// views).
#pragma once

#include <iceblink/result.h>

#include <functional>
#include <string>
#include <vector>

#include "daemon/store.h"
#include "daemon/table_row.h"

namespace iceblink::daemon {

/// Calls `visit` for the row of each table and view there is.
[[nodiscard]] Status for_each_pointer(const Store& store,
                                      const std::function<void(const shm::Change&)>& visit);

/// Of `locations`, old files of the table or view that `row` is of: those that no row names. None,
/// where another name has the same table.
[[nodiscard]] Result<std::vector<std::string>> without_named(const Store& store,
                                                             const std::string& key,
                                                             const TableRow& row,
                                                             std::vector<std::string> locations);

}  // namespace iceblink::daemon
