#include "client/cli/import/sqlite_source.h"

#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "client/cli/import/sql_rows.h"
#include "shm/file_mapping.h"

namespace iceblink::cli {
namespace {

/// How long a writer's lock is waited for.
constexpr int kBusyTimeoutMs = 10'000;

struct DatabaseCloser {
  void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
};
struct StatementCloser {
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};

ErrorKind kind_of(int code) {
  switch (code & 0xff) {
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      return ErrorKind::kCorrupt;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return ErrorKind::kBusy;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return ErrorKind::kNotAllowed;
    case SQLITE_NOMEM:
      return ErrorKind::kOutOfMemory;
    default:
      return ErrorKind::kIo;
  }
}

class SqliteReader final : public SqlReader {
 public:
  explicit SqliteReader(std::string path) : name_(std::move(path)) {}

  Status open() {
    // SQLite says "unable to open" of a file that is missing as of one that may not be read.
    if (::access(name_.c_str(), R_OK) != 0) return shm::system_error(name_, errno);
    sqlite3* database = nullptr;
    const int code = sqlite3_open_v2(name_.c_str(), &database, SQLITE_OPEN_READONLY, nullptr);
    database_.reset(database);
    if (code != SQLITE_OK) return error("open");
    sqlite3_busy_timeout(database, kBusyTimeoutMs);
    // One state of the file from the first query to the last.
    if (sqlite3_exec(database, "BEGIN", nullptr, nullptr, nullptr) != SQLITE_OK) {
      return error("begin");
    }
    return Ok{};
  }

  Result<std::vector<std::string>> columns_of(std::string_view table) override {
    ICEBLINK_RETURN_IF_ERROR(begin("SELECT name FROM pragma_table_info($1)", std::string(table)));
    std::vector<std::string> columns;
    while (true) {
      ICEBLINK_ASSIGN_OR_RETURN(auto row, fetch());
      if (!row) return columns;
      columns.push_back((*row)[0].value_or(""));
    }
  }

  Status begin(const std::string& query, const std::optional<std::string>& catalog) override {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(database_.get(), query.data(),
                                        static_cast<int>(query.size()), &statement, nullptr);
    if (code != SQLITE_OK) return error("ask");  // which another call would forget
    statement_.reset(statement);
    if (!catalog) return Ok{};
    const int bound = sqlite3_bind_text(statement, 1, catalog->data(),
                                        static_cast<int>(catalog->size()), SQLITE_TRANSIENT);
    return bound == SQLITE_OK ? Status(Ok{}) : Status(error("ask"));
  }

  Result<std::optional<SqlRow>> fetch() override {
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_DONE) return std::optional<SqlRow>();
    if (code != SQLITE_ROW) return error("read");
    SqlRow row(static_cast<std::size_t>(sqlite3_column_count(statement_.get())));
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int column = static_cast<int>(i);
      const auto* const text =
          reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
      if (text == nullptr) continue;
      row[i].emplace(text,
                     static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
    }
    return std::optional(std::move(row));
  }

  const std::string& name() const noexcept override { return name_; }

 private:
  Error error(const char* doing) const {
    return {kind_of(sqlite3_extended_errcode(database_.get())),
            name_ + ": " + doing + ": " + sqlite3_errmsg(database_.get())};
  }

  const std::string name_;
  std::unique_ptr<sqlite3, DatabaseCloser> database_;
  std::unique_ptr<sqlite3_stmt, StatementCloser> statement_;  // ends before the database does
};

}  // namespace

Result<std::unique_ptr<Source>> open_sqlite(const std::string& path,
                                            const std::optional<std::string>& catalog) {
  auto reader = std::make_unique<SqliteReader>(path);
  ICEBLINK_RETURN_IF_ERROR(reader->open());
  return make_sql_source(std::move(reader), catalog);
}

}  // namespace iceblink::cli
