// What SQL catalogs (PyIceberg's, and Java's JDBC catalog) keep in their tables: the queries, and
// what their rows mean. SQLite and PostgreSQL differ in how they are asked.
//
// Thread safety: pure functions; a SqlRows as its reader.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client/cli/import/source.h"

namespace iceblink::cli {

/// One row; a column that is NULL is nothing.
using SqlRow = std::vector<std::optional<std::string>>;

/// A database that is being asked. One query at a time: the next one ends the one before.
class SqlReader {
 public:
  virtual ~SqlReader() = default;
  /// The names of the columns of `table`; none where there is no such table.
  [[nodiscard]] virtual Result<std::vector<std::string>> columns_of(std::string_view table) = 0;
  /// Begins to answer `query`, whose parameter $1, if it has one, is `catalog`.
  [[nodiscard]] virtual Status begin(const std::string& query,
                                     const std::optional<std::string>& catalog) = 0;
  /// The next row; nothing at the end.
  [[nodiscard]] virtual Result<std::optional<SqlRow>> fetch() = 0;
  /// What messages call it: never with a password.
  [[nodiscard]] virtual const std::string& name() const noexcept = 0;
};

/// The catalog as a source: its namespaces with their properties, then its tables and views.
/// kNotFound: the database has no such tables, or no catalog of that name; kInvalidArgument: it has
/// several catalogs and none was chosen; they are named.
[[nodiscard]] Result<std::unique_ptr<Source>> make_sql_source(
    std::unique_ptr<SqlReader> reader, const std::optional<std::string>& catalog);

/// "a.b" as it is stored there: the levels are joined by dots.
[[nodiscard]] Namespace split_levels(std::string_view dotted);

}  // namespace iceblink::cli
