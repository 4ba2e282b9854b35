// Commands about a table as a handle shows it: what it is, and its snapshots.
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/columns.h"
#include "client/cli/invocation.h"
#include "client/cli/metadata_summary.h"
#include "client/cli/output.h"
#include "client/cli/time_text.h"
#include "iceberg/json_writer.h"
#include "iceberg/metadata_writer.h"
#include "iceberg/utf8.h"

namespace iceblink::cli {
namespace {

using iceberg::JsonWriter;

using TableCommand = Result<ExitCode> (*)(const Invocation&, const Table&);

/// A damaged part of the metadata that is found late is an error that names the file.
Error at_metadata(const Table& table, const Error& error) {
  return {error.kind(), table.metadata_location() + ": " + error.message()};
}

// ---- table

Result<std::string> json_of(const Table& table) {
  ICEBLINK_ASSIGN_OR_RETURN(const std::string metadata,
                            iceberg::write_table_metadata(table.metadata()));
  JsonWriter json;
  json.begin_object();
  json.begin_object("identifier");
  json.begin_array("namespace");
  for (const auto& level : table.identifier().levels) json.string(level);
  json.end_array();
  json.string("name", table.identifier().name);
  json.end_object();
  json.string("metadata-location", table.metadata_location());
  json.integer("generation", static_cast<std::int64_t>(table.generation()));
  json.key("metadata");
  json.raw(metadata);
  json.end_object();
  return json.take();
}

Result<ExitCode> print_table(const Invocation& invocation, const Table& table) {
  if (invocation.is_json()) {
    auto text = json_of(table);
    if (!text) return at_metadata(table, text.error());
    print_json(std::move(*text));
    return ExitCode::kYes;
  }
  ICEBLINK_ASSIGN_OR_RETURN(const auto lines, summary_of(table));
  for (const auto& line : lines) print_line(line);
  return ExitCode::kYes;
}

// ---- snapshots

/// The names of the refs that point at each snapshot, in their order.
std::map<std::int64_t, std::vector<std::string_view>> refs_by_snapshot(const Table& table) {
  std::map<std::int64_t, std::vector<std::string_view>> refs;
  for (const auto& ref : table.metadata().refs) refs[ref.snapshot_id].push_back(ref.name);
  return refs;
}

/// "+2 -1 =5", as far as the summary says it.
std::string changes_text(const TableSnapshot& snapshot, std::string_view what) {
  std::string text;
  for (const auto& [sign, prefix] :
       {std::pair{'+', "added-"}, std::pair{'-', "deleted-"}, std::pair{'=', "total-"}}) {
    const auto count = find_property(snapshot.summary, std::string(prefix).append(what));
    if (!count) continue;
    if (!text.empty()) text += ' ';
    text.append(1, sign).append(on_one_line(*count));
  }
  return text;
}

/// What it is, on a line; where it comes from; what it changed.
void print_snapshot(LineBuffer& lines, const Table& table, const TableSnapshot& snapshot,
                    const std::vector<std::string_view>& refs) {
  const bool is_current = table.metadata().current_snapshot_id == snapshot.snapshot_id;
  std::string line = (is_current ? "* " : "  ") + padded(std::to_string(snapshot.snapshot_id), 19);
  line += "  " + exact_time_of(snapshot.timestamp_ms) + "  " + on_one_line(snapshot.operation());
  lines.add(line);
  const auto& parent = snapshot.parent_snapshot_id;
  lines.add("    sequence " + std::to_string(snapshot.sequence_number) + ", " +
            (parent ? "parent " + std::to_string(*parent) : "no parent"));
  for (const char* const what : {"data-files", "delete-files", "records"}) {
    const std::string changes = changes_text(snapshot, what);
    if (!changes.empty()) lines.add("    " + std::string(what) + " " + changes);
  }
  for (const auto name : refs) lines.add("    ref " + on_one_line(name));
}

std::string json_of(const Table& table, const TableSnapshot& snapshot,
                    const std::vector<std::string_view>& refs) {
  JsonWriter json;
  json.begin_object();
  iceberg::write_snapshot_members(json, snapshot, table.metadata().format_version);
  json.begin_array("refs");
  for (const auto name : refs) json.string(name);
  json.end_array();
  json.end_object();
  return json.take();
}

Result<ExitCode> print_snapshots(const Invocation& invocation, const Table& table) {
  const auto snapshots = table.metadata().snapshots();
  if (!snapshots) return at_metadata(table, snapshots.error());
  auto refs = refs_by_snapshot(table);
  LineBuffer lines;
  if (invocation.is_json()) {
    for (const auto& snapshot : *snapshots) {
      lines.add(json_of(table, snapshot, refs[snapshot.snapshot_id]));
    }
    return ExitCode::kYes;
  }
  for (const auto& snapshot : *snapshots) {
    print_snapshot(lines, table, snapshot, refs[snapshot.snapshot_id]);
  }
  return ExitCode::kYes;
}

// ---- Both

Result<ExitCode> run(const Invocation& invocation, const std::string& ident_text,
                     TableCommand command) {
  const auto ident = parse_table(ident_text);
  if (!ident) return usage_error(ident.error());
  ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
  ICEBLINK_ASSIGN_OR_RETURN(const auto table, catalog.load_table(*ident));
  return command(invocation, *table);
}

void add(CLI::App& app, Invocation& invocation, const char* name, const char* what,
         TableCommand command) {
  auto* const subcommand = app.add_subcommand(name, what);
  const auto text = std::make_shared<std::string>();
  subcommand->add_option("ID", *text)->required();
  subcommand->callback([&invocation, command, text] {
    invocation.run = [&invocation, command, text] { return run(invocation, *text, command); };
  });
}

}  // namespace

void add_table_commands(CLI::App& app, Invocation& invocation) {
  add(app, invocation, "table", "print a table: where it is, columns, partitioning, refs, …",
      print_table);
  add(app, invocation, "snapshots", "list the snapshots of a table, * the current one",
      print_snapshots);
}

}  // namespace iceblink::cli
