#include "client/cli/import/postgres_source.h"

#include <libpq-fe.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "client/cli/import/sql_rows.h"

namespace iceblink::cli {
namespace {

constexpr const char* kConnectTimeoutS = "10";
constexpr const char* kFetch = "FETCH FORWARD 2000 FROM iceblink_rows";

struct ConnectionCloser {
  void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
};
struct AnswerCloser {
  void operator()(PGresult* answer) const noexcept { PQclear(answer); }
};
struct OptionsCloser {
  void operator()(PQconninfoOption* options) const noexcept { PQconninfoFree(options); }
};
using Connection = std::unique_ptr<PGconn, ConnectionCloser>;
using PgAnswer = std::unique_ptr<PGresult, AnswerCloser>;

/// libpq's messages end lines.
std::string one_line(const char* text) {
  std::string line(text == nullptr ? "" : text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line;
}

Result<std::map<std::string, std::string>> parse(const std::string& conninfo) {
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, OptionsCloser> options(
      PQconninfoParse(conninfo.c_str(), &message));
  PQfreemem(message);  // not shown: it may quote a password
  if (!options) {
    return {ErrorKind::kInvalidArgument,
            "CONNINFO is neither \"host=… dbname=…\" nor a postgresql:// URI"};
  }
  std::map<std::string, std::string> given;
  for (const auto* option = options.get(); option->keyword != nullptr; ++option) {
    if (option->val != nullptr) given.emplace(option->keyword, option->val);
  }
  if (given.contains("password")) {
    return {ErrorKind::kInvalidArgument,
            "CONNINFO holds a password, which every user of this host can see; put it into "
            "~/.pgpass or $PGPASSWORD"};
  }
  return given;
}

class PostgresReader final : public SqlReader {
 public:
  Status open(const std::map<std::string, std::string>& given) {
    std::vector<const char*> keys;
    std::vector<const char*> values;
    const auto add = [&](const char* key, const char* value) {
      keys.push_back(key);
      values.push_back(value);
    };
    if (!given.contains("connect_timeout")) add("connect_timeout", kConnectTimeoutS);
    if (!given.contains("application_name")) add("application_name", "iceblink import");
    for (const auto& [key, value] : given) add(key.c_str(), value.c_str());
    add("client_encoding", "UTF8");
    add(nullptr, nullptr);
    connection_.reset(PQconnectdbParams(keys.data(), values.data(), 0));
    if (!connection_) return {ErrorKind::kOutOfMemory, "out of memory"};
    if (PQstatus(connection_.get()) != CONNECTION_OK) {
      return {ErrorKind::kIo, "PostgreSQL: " + one_line(PQerrorMessage(connection_.get()))};
    }
    name_ = std::string("PostgreSQL database '") + PQdb(connection_.get()) + "'";
    return command("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }

  Result<std::vector<std::string>> columns_of(std::string_view table) override {
    ICEBLINK_RETURN_IF_ERROR(
        begin("SELECT attname FROM pg_attribute WHERE attrelid = "
              "to_regclass($1) AND attnum > 0 AND NOT attisdropped",
              std::string(table)));
    std::vector<std::string> columns;
    while (true) {
      ICEBLINK_ASSIGN_OR_RETURN(auto row, fetch());
      if (!row) return columns;
      columns.push_back((*row)[0].value_or(""));
    }
  }

  Status begin(const std::string& query, const std::optional<std::string>& catalog) override {
    if (has_cursor_) ICEBLINK_RETURN_IF_ERROR(command("CLOSE iceblink_rows"));
    has_cursor_ = false;
    rows_.reset();
    next_row_ = 0;
    const std::string declare = "DECLARE iceblink_rows NO SCROLL CURSOR FOR " + query;
    const char* const values[] = {catalog ? catalog->c_str() : nullptr};
    const PgAnswer answer(PQexecParams(connection_.get(), declare.c_str(), catalog ? 1 : 0, nullptr,
                                       values, nullptr, nullptr, 0));
    if (PQresultStatus(answer.get()) != PGRES_COMMAND_OK) return error(answer.get());
    has_cursor_ = true;
    return Ok{};
  }

  Result<std::optional<SqlRow>> fetch() override {
    if (!rows_ || next_row_ == PQntuples(rows_.get())) {
      rows_.reset(PQexec(connection_.get(), kFetch));
      next_row_ = 0;
      if (PQresultStatus(rows_.get()) != PGRES_TUPLES_OK) return error(rows_.get());
      if (PQntuples(rows_.get()) == 0) return std::optional<SqlRow>();
    }
    SqlRow row(static_cast<std::size_t>(PQnfields(rows_.get())));
    for (std::size_t i = 0; i < row.size(); ++i) {
      const int column = static_cast<int>(i);
      if (PQgetisnull(rows_.get(), next_row_, column) != 0) continue;
      row[i].emplace(PQgetvalue(rows_.get(), next_row_, column),
                     static_cast<std::size_t>(PQgetlength(rows_.get(), next_row_, column)));
    }
    ++next_row_;
    return std::optional(std::move(row));
  }

  const std::string& name() const noexcept override { return name_; }

 private:
  Status command(const char* text) {
    const PgAnswer answer(PQexec(connection_.get(), text));
    if (PQresultStatus(answer.get()) == PGRES_COMMAND_OK) return Ok{};
    return error(answer.get());
  }
  Error error(const PGresult* answer) const {
    const char* const state = PQresultErrorField(answer, PG_DIAG_SQLSTATE);
    const bool is_denied = state != nullptr && std::string_view(state) == "42501";
    return {is_denied ? ErrorKind::kNotAllowed : ErrorKind::kIo,
            name_ + ": " + one_line(PQerrorMessage(connection_.get()))};
  }

  std::string name_ = "PostgreSQL";
  Connection connection_;
  PgAnswer rows_;
  int next_row_ = 0;
  bool has_cursor_ = false;
};

}  // namespace

Result<std::unique_ptr<Source>> open_postgres(const std::string& conninfo,
                                              const std::optional<std::string>& catalog) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto given, parse(conninfo));
  auto reader = std::make_unique<PostgresReader>();
  ICEBLINK_RETURN_IF_ERROR(reader->open(given));
  return make_sql_source(std::move(reader), catalog);
}

}  // namespace iceblink::cli
