// A SQL catalog in a SQLite file: PyIceberg's, or one that Java's JDBC catalog wrote.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/cli/import/source.h"

namespace iceblink::cli {

/// Opened for reading only, in one transaction: what a writer does meanwhile is not seen, and it is
/// not held up where the file is in WAL mode. Errors: those of make_sql_source; kNotFound: no such
/// file; kNotAllowed, kCorrupt (no database), kBusy (locked), kIo.
[[nodiscard]] Result<std::unique_ptr<Source>> open_sqlite(
    const std::string& path, const std::optional<std::string>& catalog);

}  // namespace iceblink::cli
