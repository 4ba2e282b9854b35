// Commands that are answered from the segment alone.
#include <memory>

#include "client/cli/invocation.h"
#include "client/cli/output.h"
#include "iceberg/utf8.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

Namespace child_of(const Namespace& parent, const std::string& level) {
  Namespace child = parent;
  child.push_back(level);
  return child;
}

Result<ExitCode> print_namespaces(const Invocation& invocation, const std::string& parent_text) {
  Namespace parent;
  if (!parent_text.empty()) {
    auto parsed = parse_namespace(parent_text);
    if (!parsed) return usage_error(parsed.error());
    parent = std::move(*parsed);
  }
  ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
  ICEBLINK_ASSIGN_OR_RETURN(const auto names, catalog.list_namespaces(parent));
  json::array list;
  for (const auto& name : names) {
    const Namespace levels = child_of(parent, name);
    if (invocation.is_json()) {
      list.emplace_back(to_json(levels));
    } else {
      print_line(format(levels));
    }
  }
  if (invocation.is_json()) print_json(json::object{{"namespaces", std::move(list)}});
  return ExitCode::kYes;
}

// The tables of one namespace, or of it and everything below.
Status collect_tables(const Snapshot& snapshot, const Namespace& levels,
                      std::vector<TableIdent>& tables) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto names, snapshot.list_tables(levels));
  for (const auto& name : names) tables.push_back({levels, name});
  return Ok{};
}

Status collect_all_tables(const Snapshot& snapshot, const Namespace& parent,
                          std::vector<TableIdent>& tables) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto names, snapshot.list_namespaces(parent));
  for (const auto& name : names) {
    const Namespace levels = child_of(parent, name);
    ICEBLINK_RETURN_IF_ERROR(collect_tables(snapshot, levels, tables));
    ICEBLINK_RETURN_IF_ERROR(collect_all_tables(snapshot, levels, tables));
  }
  return Ok{};
}

Result<ExitCode> print_tables(const Invocation& invocation, const std::string& namespace_text) {
  Namespace levels;
  if (!namespace_text.empty()) {
    auto parsed = parse_namespace(namespace_text);
    if (!parsed) return usage_error(parsed.error());
    levels = std::move(*parsed);
  }
  ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
  ICEBLINK_ASSIGN_OR_RETURN(const Snapshot snapshot, catalog.snapshot());
  std::vector<TableIdent> tables;
  ICEBLINK_RETURN_IF_ERROR(levels.empty() ? collect_all_tables(snapshot, levels, tables)
                                          : collect_tables(snapshot, levels, tables));
  json::array list;
  for (const auto& ident : tables) {
    if (invocation.is_json()) {
      list.emplace_back(json::object{{"namespace", to_json(ident.levels)}, {"name", ident.name}});
    } else {
      print_line(format(ident));
    }
  }
  if (invocation.is_json()) print_json(json::object{{"identifiers", std::move(list)}});
  return ExitCode::kYes;
}

Result<ExitCode> print_existence(const Invocation& invocation, const std::string& ident_text) {
  const auto ident = parse_table(ident_text);
  if (!ident) return usage_error(ident.error());
  ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
  ICEBLINK_ASSIGN_OR_RETURN(const bool exists, catalog.table_exists(*ident));
  if (invocation.is_json()) {
    print_json(json::object{{"exists", exists}});
  } else {
    print_line(exists ? "yes" : "no");
  }
  return exists ? ExitCode::kYes : ExitCode::kNo;
}

Result<ExitCode> print_location(const Invocation& invocation, const std::string& ident_text) {
  const auto ident = parse_table(ident_text);
  if (!ident) return usage_error(ident.error());
  ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
  ICEBLINK_ASSIGN_OR_RETURN(const std::string location, catalog.resolve_location(*ident));
  if (!is_utf8(location)) {
    return Error{ErrorKind::kCorrupt,
                 "the location of " + ident_text + " in the segment is not UTF-8"};
  }
  if (invocation.is_json()) {
    print_json(json::object{{"metadata-location", location}});
  } else {
    print_line(location);
  }
  return ExitCode::kYes;
}

using NameCommand = Result<ExitCode> (*)(const Invocation&, const std::string&);

CLI::Option* add(CLI::App& app, Invocation& invocation, const char* name, const char* what,
                 const char* argument, NameCommand run) {
  auto* const command = app.add_subcommand(name, what);
  const auto text = std::make_shared<std::string>();
  auto* const option = command->add_option(argument, *text);
  command->callback([&invocation, run, text] {
    invocation.run = [&invocation, run, text] { return run(invocation, *text); };
  });
  return option;
}

}  // namespace

void add_read_commands(CLI::App& app, Invocation& invocation) {
  add(app, invocation, "namespaces", "list namespaces: those at the root, or a parent's children",
      "PARENT", print_namespaces);
  add(app, invocation, "tables", "list tables: all, or those of one namespace", "NAMESPACE",
      print_tables);
  add(app, invocation, "exists", "say whether a table exists (exit code 0 or 1)", "ID",
      print_existence)
      ->required();
  add(app, invocation, "resolve", "print a table's metadata location", "ID", print_location)
      ->required();
}

}  // namespace iceblink::cli
