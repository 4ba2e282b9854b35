// Commands about metadata: what a table's or a view's says, and whether files of it are valid.
#include <memory>
#include <utility>

#include "client/cli/invocation.h"
#include "client/cli/metadata_file.h"
#include "client/cli/metadata_summary.h"
#include "client/cli/output.h"
#include "iceberg/metadata_parser.h"
#include "iceberg/metadata_writer.h"
#include "iceberg/utf8.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

// ---- metadata

Status print_table(const Invocation& invocation, const TableMetadata& table) {
  if (invocation.is_json()) {
    ICEBLINK_ASSIGN_OR_RETURN(std::string text, iceberg::write_table_metadata(table));
    print_json(std::move(text));
    return Ok{};
  }
  ICEBLINK_ASSIGN_OR_RETURN(const auto lines, summary_of(table));
  for (const auto& line : lines) print_line(line);
  return Ok{};
}

Status print_view(const Invocation& invocation, const ViewMetadata& view) {
  if (invocation.is_json()) {
    ICEBLINK_ASSIGN_OR_RETURN(std::string text, iceberg::write_view_metadata(view));
    print_json(std::move(text));
    return Ok{};
  }
  for (const auto& line : summary_of(view)) print_line(line);
  return Ok{};
}

Status print_document(const Invocation& invocation, const MetadataDocument& document) {
  return document.kind() == MetadataDocument::Kind::kView
             ? print_view(invocation, static_cast<const ViewMetadata&>(document))
             : print_table(invocation, static_cast<const TableMetadata&>(document));
}

/// The table of that name, or else the view.
Result<std::shared_ptr<const MetadataDocument>> resolve(const Invocation& invocation,
                                                        const TableIdent& ident) {
  ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
  ICEBLINK_ASSIGN_OR_RETURN(const bool is_view, catalog.view_exists(ident));
  if (is_view) {
    ICEBLINK_ASSIGN_OR_RETURN(auto view, catalog.resolve_view_metadata(ident));
    return std::shared_ptr<const MetadataDocument>(std::move(view));
  }
  ICEBLINK_ASSIGN_OR_RETURN(auto table, catalog.resolve_metadata(ident));
  return std::shared_ptr<const MetadataDocument>(std::move(table));
}

Result<ExitCode> print_metadata(const Invocation& invocation, const std::string& argument) {
  std::shared_ptr<const MetadataDocument> document;
  if (is_meant_as_path(argument)) {
    const MetadataLimits& limits = invocation.options.metadata_limits;
    ICEBLINK_ASSIGN_OR_RETURN(auto content, read_metadata_file(argument, limits));
    auto parsed = iceberg::parse_metadata(std::move(content), limits);
    if (!parsed) {
      return Error{parsed.error().kind(), argument + ": " + parsed.error().message()};
    }
    document = std::move(*parsed);
  } else {
    const auto ident = parse_table(argument);
    if (!ident) return usage_error(ident.error());
    ICEBLINK_ASSIGN_OR_RETURN(document, resolve(invocation, *ident));
  }
  const Status printed = print_document(invocation, *document);
  if (!printed) return Error{printed.error().kind(), argument + ": " + printed.error().message()};
  return ExitCode::kYes;
}

// ---- check

/// A file that is larger than the limit is judged, and not unreadable.
Result<std::vector<iceberg::MetadataProblem>> check_file(const std::string& path) {
  const MetadataLimits limits;
  auto content = read_metadata_file(path, limits);
  if (!content && content.error().kind() == ErrorKind::kTooLarge) {
    return std::vector<iceberg::MetadataProblem>{
        {"", "the file is larger than " + std::to_string(limits.document_bytes_max) + " bytes"}};
  }
  if (!content) return content.error();
  return iceberg::check_metadata(std::move(*content), limits);
}

void print_problems(const Invocation& invocation, const std::string& path,
                    const std::vector<iceberg::MetadataProblem>& problems) {
  if (!invocation.is_json()) {
    for (const auto& [field, what] : problems) {
      print_line(path + ": " + (field.empty() ? "" : field + ": ") + what);
    }
    return;
  }
  json::array list;
  for (const auto& [field, what] : problems) {
    list.push_back(json::object{{"path", field}, {"what", what}});
  }
  print_json(json::object{
      {"file", on_one_line(path)}, {"valid", problems.empty()}, {"problems", std::move(list)}});
}

Result<ExitCode> check(const Invocation& invocation, const std::vector<std::string>& paths) {
  bool is_any_invalid = false;
  bool is_any_unreadable = false;
  for (const std::string& path : paths) {
    const auto problems = check_file(path);
    if (problems) {
      is_any_invalid = is_any_invalid || !problems->empty();
      print_problems(invocation, path, *problems);
      continue;
    }
    is_any_unreadable = true;
    if (invocation.is_json()) {
      print_json(json::object{{"file", on_one_line(path)},
                              {"error", on_one_line(problems.error().message())}});
    }
    print_error(problems.error().message());
  }
  // What is known to be wrong says more than what is not known.
  if (is_any_invalid) return ExitCode::kInvalid;
  return is_any_unreadable ? ExitCode::kNo : ExitCode::kYes;
}

}  // namespace

void add_metadata_commands(CLI::App& app, Invocation& invocation) {
  auto* const print =
      app.add_subcommand("metadata", "print the metadata of a table, of a view, or of a file");
  const auto argument = std::make_shared<std::string>();
  print->add_option("ID|FILE", *argument, "a name in the catalog; a file if there is one, or a '/'")
      ->required();
  print->callback([&invocation, argument] {
    invocation.run = [&invocation, argument] { return print_metadata(invocation, *argument); };
  });

  auto* const judge = app.add_subcommand(
      "check", "say all that is wrong with metadata files (exit code 0, 5 invalid, 1 unreadable)");
  const auto paths = std::make_shared<std::vector<std::string>>();
  judge->add_option("FILE", *paths)->required();
  judge->callback([&invocation, paths] {
    invocation.run = [&invocation, paths] { return check(invocation, *paths); };
  });
}

}  // namespace iceblink::cli
