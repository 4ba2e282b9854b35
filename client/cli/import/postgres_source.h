// A SQL catalog in PostgreSQL: Java's JDBC catalog, or PyIceberg's.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/cli/import/source.h"

namespace iceblink::cli {

/// `conninfo`: libpq's, of either form. A password in it is refused, since other users see command
/// lines; it comes from ~/.pgpass or $PGPASSWORD, and stands in no message.
///
/// Read in one read-only transaction of one snapshot, some rows at a time. Errors: those of
/// make_sql_source; kInvalidArgument, kNotAllowed, kIo.
[[nodiscard]] Result<std::unique_ptr<Source>> open_postgres(
    const std::string& conninfo, const std::optional<std::string>& catalog);

}  // namespace iceblink::cli
