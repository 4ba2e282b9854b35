// Commands about the files of tables: of one snapshot, and between two.
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "client/cli/file_diff.h"
#include "client/cli/file_rows.h"
#include "client/cli/invocation.h"
#include "client/cli/output.h"
#include "client/cli/snapshot_choice.h"
#include "client/cli/time_text.h"
#include "iceberg/utf8.h"

namespace iceblink::cli {
namespace {

using iceberg::JsonWriter;

// ---- files

void print_files(const Invocation& invocation, const Table& table, const FileList& list) {
  LineBuffer lines;
  if (invocation.is_json()) {
    for (const DataFile* const file : list.files()) {
      JsonWriter json;
      json.begin_object();
      write_file_members(json, table, *file);
      json.end_object();
      lines.add(json.take());
    }
    return;
  }
  FileRows rows(table);
  FileCounts counts;
  rows.measure(list.files());
  if (!list.files().empty()) rows.print_header(lines);
  for (const DataFile* const file : list.files()) {
    rows.print(lines, *file);
    counts.add(*file);
  }
  lines.add(counts.text());
}

std::string json_of(const Table& table, const FileTask& task) {
  JsonWriter json;
  json.begin_object();
  write_file_members(json, table, *task.file);
  json.begin_array("delete_files");
  for (const auto deletes : {task.position_deletes, task.equality_deletes}) {
    for (const DataFile* const file : deletes) write_delete_file(json, *file);
  }
  json.end_array();
  json.end_object();
  return json.take();
}

/// Below a data file, a line for each delete file that applies to it.
void print_plan_text(const Table& table, const FilePlan& plan) {
  LineBuffer lines;
  FileRows rows(table);
  FileCounts counts;
  std::size_t applied = 0;
  for (const FileTask& task : plan.tasks()) rows.measure({&task.file, 1});
  if (!plan.tasks().empty()) rows.print_header(lines);
  for (const FileTask& task : plan.tasks()) {
    rows.print(lines, *task.file);
    counts.add(*task.file);
    for (const auto deletes : {task.position_deletes, task.equality_deletes}) {
      applied += deletes.size();
      for (const DataFile* const file : deletes) {
        lines.add("  " + content_text(*file) + " of sequence " +
                  std::to_string(file->sequence_number) + "  " + on_one_line(file->file_path));
      }
    }
  }
  lines.add(counts.text() + ", deletes applied " + std::to_string(applied) + " times");
}

void print_plan(const Invocation& invocation, const Table& table, const FilePlan& plan) {
  if (!invocation.is_json()) {
    print_plan_text(table, plan);
    return;
  }
  LineBuffer lines;
  for (const FileTask& task : plan.tasks()) lines.add(json_of(table, task));
}

struct Files {
  std::string ident;
  SnapshotChoice choice;
  bool is_plan = false;

  Result<ExitCode> run(const Invocation& invocation) const {
    const auto parsed = parse_table(ident);
    if (!parsed) return usage_error(parsed.error());
    ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
    ICEBLINK_ASSIGN_OR_RETURN(const auto table, catalog.load_table(*parsed));
    ICEBLINK_ASSIGN_OR_RETURN(const TableSnapshot* const snapshot, choice.find_in(*table));
    if (snapshot == nullptr) return ExitCode::kYes;  // an empty table
    if (is_plan) {
      ICEBLINK_ASSIGN_OR_RETURN(const FilePlan plan, table->plan_files(*snapshot));
      print_plan(invocation, *table, plan);
    } else {
      ICEBLINK_ASSIGN_OR_RETURN(const FileList list, table->files(snapshot->snapshot_id));
      print_files(invocation, *table, list);
    }
    return ExitCode::kYes;
  }
};

// ---- diff

void print_diff_json(const Table& table, const FileDiff& diff) {
  LineBuffer lines;
  for (const auto& [change, files] :
       {std::pair{"removed", &diff.removed}, std::pair{"added", &diff.added}}) {
    for (const DataFile* const file : *files) {
      JsonWriter json;
      json.begin_object();
      json.string("change", change);
      write_file_members(json, table, *file);
      json.end_object();
      lines.add(json.take());
    }
  }
}

void print_diff_text(const Table& table, const FileDiff& diff) {
  LineBuffer lines;
  FileRows rows(table);
  rows.measure(diff.removed);
  rows.measure(diff.added);
  FileCounts removed;
  FileCounts added;
  if (!diff.removed.empty() || !diff.added.empty()) rows.print_header(lines, "  ");
  for (const DataFile* const file : diff.removed) {
    rows.print(lines, *file, "- ");
    removed.add(*file);
  }
  for (const DataFile* const file : diff.added) {
    rows.print(lines, *file, "+ ");
    added.add(*file);
  }
  lines.add("removed: " + removed.text());
  lines.add("added: " + added.text());
}

struct Diff {
  std::string ident;
  std::string from;
  std::string to;

  Result<ExitCode> run(const Invocation& invocation) const {
    const auto parsed = parse_table(ident);
    if (!parsed) return usage_error(parsed.error());
    ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
    ICEBLINK_ASSIGN_OR_RETURN(const auto table, catalog.load_table(*parsed));
    ICEBLINK_ASSIGN_OR_RETURN(const TableSnapshot* const older, snapshot_named(*table, from));
    ICEBLINK_ASSIGN_OR_RETURN(const TableSnapshot* const newer, snapshot_named(*table, to));
    ICEBLINK_ASSIGN_OR_RETURN(const FileDiff diff, diff_files(*table, *older, *newer));
    if (invocation.is_json()) {
      print_diff_json(*table, diff);
    } else {
      print_diff_text(*table, diff);
    }
    return ExitCode::kYes;
  }
};

}  // namespace

void add_file_commands(CLI::App& app, Invocation& invocation) {
  const auto files = std::make_shared<Files>();
  auto* const list =
      app.add_subcommand("files", "list the live files of a table's snapshot [the current one]");
  list->add_option("ID", files->ident)->required();
  auto* const by_id = list->add_option("--snapshot", files->choice.snapshot_id, "by its id");
  auto* const by_ref = list->add_option("--ref", files->choice.ref, "that of a branch or tag");
  auto* const by_time = list->add_option_function<std::string>(
      "--as-of",
      [files](const std::string& text) {
        files->choice.as_of_ms = parse_time(text);
        if (!files->choice.as_of_ms) {
          throw CLI::ValidationError("--as-of", "'" + text + "' is no time");
        }
      },
      "the current one at that time: milliseconds, or ISO 8601 [in UTC]");
  by_id->type_name("S")->excludes(by_ref)->excludes(by_time);
  by_ref->type_name("REF")->excludes(by_time);
  by_time->type_name("TIME");
  list->add_flag("--plan", files->is_plan,
                 "list data files alone, and with each the delete files that apply to it");
  list->callback([&invocation, files] {
    invocation.run = [&invocation, files] { return files->run(invocation); };
  });

  const auto diff = std::make_shared<Diff>();
  auto* const compare = app.add_subcommand(
      "diff", "list the files that went and came from one snapshot of a table to another");
  compare->add_option("ID", diff->ident)->required();
  compare->add_option("FROM", diff->from, "a snapshot's id, or a ref")->required();
  compare->add_option("TO", diff->to)->required();
  compare->callback([&invocation, diff] {
    invocation.run = [&invocation, diff] { return diff->run(invocation); };
  });
}

}  // namespace iceblink::cli
