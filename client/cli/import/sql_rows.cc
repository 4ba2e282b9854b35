#include "client/cli/import/sql_rows.h"

#include <algorithm>
#include <utility>

namespace iceblink::cli {
namespace {

constexpr std::string_view kTablesName = "iceberg_tables";
constexpr std::string_view kProperties = "iceberg_namespace_properties";
/// What catalogs of both kinds write for a namespace that has no properties.
constexpr std::string_view kExists = "exists";

bool has(const std::vector<std::string>& columns, std::string_view name) {
  return std::find(columns.begin(), columns.end(), name) != columns.end();
}

class SqlSource final : public Source {
 public:
  SqlSource(std::unique_ptr<SqlReader> reader, std::string catalog, bool has_types,
            bool has_properties, std::uint64_t total)
      : reader_(std::move(reader)),
        catalog_(std::move(catalog)),
        has_types_(has_types),
        has_properties_(has_properties),
        total_(total) {}

  Result<std::optional<SourceItem>> next() override {
    while (true) {
      if (stage_ == Stage::kTables) return next_object();
      ICEBLINK_ASSIGN_OR_RETURN(auto found, next_namespace());
      if (found) return std::optional<SourceItem>(std::move(*found));
    }
  }
  std::optional<std::uint64_t> total() const override { return total_; }

 private:
  enum class Stage : std::uint8_t { kBegin, kNamespaces, kTables };

  // The rows of one namespace follow each other. Nothing: go on with what stage_ says.
  Result<std::optional<FoundNamespace>> next_namespace() {
    if (stage_ == Stage::kBegin) {
      stage_ = Stage::kNamespaces;
      if (has_properties_) {
        ICEBLINK_RETURN_IF_ERROR(
            reader_->begin("SELECT namespace, property_key, property_value FROM "
                           "iceberg_namespace_properties WHERE catalog_name = $1 "
                           "ORDER BY namespace, property_key",
                           catalog_));
      }
    }
    while (has_properties_) {
      ICEBLINK_ASSIGN_OR_RETURN(const auto row, reader_->fetch());
      if (!row) break;
      const std::string dotted = (*row)[0].value_or("");
      std::optional<FoundNamespace> before;
      if (!namespace_ || namespace_->first != dotted) {
        before = take_namespace();
        namespace_.emplace(dotted, Properties());
      }
      const auto& key = (*row)[1];
      if (key && *key != kExists) namespace_->second[*key] = (*row)[2].value_or("");
      if (before) return before;
    }
    ICEBLINK_RETURN_IF_ERROR(begin_tables());
    return take_namespace();
  }

  std::optional<FoundNamespace> take_namespace() {
    if (!namespace_) return std::nullopt;
    FoundNamespace found{split_levels(namespace_->first), std::move(namespace_->second)};
    namespace_.reset();
    return found;
  }

  Status begin_tables() {
    stage_ = Stage::kTables;
    std::string query = "SELECT table_namespace, table_name, metadata_location";
    if (has_types_) query += ", iceberg_type";
    query += " FROM iceberg_tables WHERE catalog_name = $1 ORDER BY table_namespace, table_name";
    return reader_->begin(query, catalog_);
  }

  Result<std::optional<SourceItem>> next_object() {
    ICEBLINK_ASSIGN_OR_RETURN(auto row, reader_->fetch());
    if (!row) return std::optional<SourceItem>();
    FoundObject found;
    const std::string type = has_types_ ? (*row)[3].value_or("TABLE") : "TABLE";
    if (type == "VIEW") found.kind = ObjectKind::kView;
    found.ident = {split_levels((*row)[0].value_or("")), (*row)[1].value_or("")};
    const std::string name = describe_row(found);
    if (type != "VIEW" && type != "TABLE") {
      return unreadable(name + ": iceberg_type is '" + type + "', not TABLE or VIEW");
    }
    if (!(*row)[2]) return unreadable(name + ": it has no metadata location");
    found.metadata_location = std::move(*(*row)[2]);
    return std::optional<SourceItem>(std::move(found));
  }

  static std::string describe_row(const FoundObject& found) { return format(found.ident); }
  static std::optional<SourceItem> unreadable(std::string message) {
    return SourceItem(Unreadable{Error(ErrorKind::kInvalidArgument, std::move(message))});
  }

  const std::unique_ptr<SqlReader> reader_;
  const std::string catalog_;
  const bool has_types_;
  const bool has_properties_;
  const std::uint64_t total_;
  Stage stage_ = Stage::kBegin;
  std::optional<std::pair<std::string, Properties>> namespace_;  // being read
};

Result<std::vector<std::string>> catalog_names(SqlReader& reader, bool has_properties) {
  std::string query = "SELECT catalog_name FROM iceberg_tables";
  if (has_properties) query += " UNION SELECT catalog_name FROM iceberg_namespace_properties";
  query = "SELECT DISTINCT catalog_name FROM (" + query + ") AS names ORDER BY catalog_name";
  ICEBLINK_RETURN_IF_ERROR(reader.begin(query, std::nullopt));
  std::vector<std::string> names;
  while (true) {
    ICEBLINK_ASSIGN_OR_RETURN(auto row, reader.fetch());
    if (!row) return names;
    if ((*row)[0]) names.push_back(*(*row)[0]);  // rows of none are of no catalog
  }
}

std::string list_of(const std::vector<std::string>& names) {
  std::string list;
  for (const auto& name : names) list += (list.empty() ? "'" : ", '") + name + "'";
  return list;
}

Result<std::string> chosen_of(const SqlReader& reader, const std::vector<std::string>& names,
                              const std::optional<std::string>& chosen) {
  if (chosen) {
    if (has(names, *chosen)) return *chosen;
    return {ErrorKind::kNotFound,
            reader.name() + ": no catalog '" + *chosen + "'" +
                (names.empty() ? " (nor any other)" : ", there is " + list_of(names))};
  }
  if (names.size() > 1) {
    return {ErrorKind::kInvalidArgument, reader.name() + ": holds several catalogs, choose one " +
                                             "with --catalog: " + list_of(names)};
  }
  return names.empty() ? std::string() : names.front();
}

}  // namespace

Namespace split_levels(std::string_view dotted) {
  Namespace levels;
  while (true) {
    const auto dot = dotted.find('.');
    levels.emplace_back(dotted.substr(0, dot));
    if (dot == std::string_view::npos) return levels;
    dotted.remove_prefix(dot + 1);
  }
}

Result<std::unique_ptr<Source>> make_sql_source(std::unique_ptr<SqlReader> reader,
                                                const std::optional<std::string>& catalog) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto columns, reader->columns_of(kTablesName));
  if (columns.empty()) {
    return {ErrorKind::kNotFound,
            reader->name() + ": no Iceberg catalog: there is no table " + std::string(kTablesName)};
  }
  for (const char* needed :
       {"catalog_name", "table_namespace", "table_name", "metadata_location"}) {
    if (has(columns, needed)) continue;
    return {ErrorKind::kIncompatible,
            reader->name() + ": " + std::string(kTablesName) + " has no column '" + needed + "'"};
  }
  ICEBLINK_ASSIGN_OR_RETURN(const auto properties, reader->columns_of(kProperties));
  for (const char* needed : {"catalog_name", "namespace", "property_key", "property_value"}) {
    if (properties.empty() || has(properties, needed)) continue;
    return {ErrorKind::kIncompatible,
            reader->name() + ": " + std::string(kProperties) + " has no column '" + needed + "'"};
  }
  ICEBLINK_ASSIGN_OR_RETURN(const auto names, catalog_names(*reader, !properties.empty()));
  ICEBLINK_ASSIGN_OR_RETURN(std::string chosen, chosen_of(*reader, names, catalog));
  ICEBLINK_RETURN_IF_ERROR(
      reader->begin("SELECT count(*) FROM iceberg_tables WHERE catalog_name = $1", chosen));
  ICEBLINK_ASSIGN_OR_RETURN(const auto row, reader->fetch());
  const std::uint64_t total = row && (*row)[0] ? std::stoull(*(*row)[0]) : 0;
  return std::unique_ptr<Source>(std::make_unique<SqlSource>(std::move(reader), std::move(chosen),
                                                             has(columns, "iceberg_type"),
                                                             !properties.empty(), total));
}

}  // namespace iceblink::cli
