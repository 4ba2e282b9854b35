// `iceblink export`: the catalog as JSON lines, of one generation.
#include <array>
#include <memory>
#include <optional>
#include <utility>

#include "client/cli/durable_file.h"
#include "client/cli/invocation.h"
#include "client/cli/output.h"
#include "client/cli/progress.h"
#include "client/wire.h"
#include "iceberg/hex.h"
#include "iceberg/utf8.h"

namespace iceblink::cli {
namespace {

struct Export {
  std::optional<std::string> below;
  std::optional<std::string> output;
  bool without_properties = false;
};

using Bytes16 = std::array<std::uint8_t, 16>;

bool is_zero(const Bytes16& bytes) {
  return bytes == Bytes16{};
}

std::string uuid_text(const Bytes16& uuid) {
  std::string text = iceberg::to_hex(uuid);
  for (const std::size_t at : {20, 16, 12, 8}) text.insert(at, "-");
  return text;
}

/// Where the lines go: a file that is there whole or not at all, or standard output.
class Lines {
 public:
  static Result<Lines> to(const std::optional<std::string>& path) {
    Lines lines;
    if (path) {
      ICEBLINK_ASSIGN_OR_RETURN(auto file,
                                DurableFile::create(*path, DurableFile::IfExists::kReplace));
      lines.file_ = std::make_unique<DurableFile>(std::move(file));
    } else {
      lines.out_ = std::make_unique<LineBuffer>();
    }
    return lines;
  }

  Status add(std::string line) {
    if (!file_) {
      out_->add(line);
      return Ok{};
    }
    line += '\n';
    return file_->write(line);
  }
  Status finish() {
    out_.reset();
    return file_ ? file_->commit() : Ok{};
  }

 private:
  std::unique_ptr<DurableFile> file_;
  std::unique_ptr<LineBuffer> out_;
};

class Exporter {
 public:
  Exporter(const Catalog& catalog, Snapshot snapshot, const Export& options, Lines lines)
      : catalog_(catalog),
        snapshot_(std::move(snapshot)),
        options_(options),
        lines_(std::move(lines)) {}

  Status run(const Namespace& below) {
    ICEBLINK_RETURN_IF_ERROR(lines_.add(R"({"iceblink-export":1,"generation":)" +
                                        std::to_string(snapshot_.generation()) + "}"));
    ICEBLINK_RETURN_IF_ERROR(below.empty() ? add_children(below) : add_namespace(below));
    return lines_.finish();
  }
  std::uint64_t count() const { return count_; }

 private:
  Status add_children(const Namespace& parent) {
    ICEBLINK_ASSIGN_OR_RETURN(const auto names, snapshot_.list_namespaces(parent));
    for (const auto& name : names) {
      Namespace levels = parent;
      levels.push_back(name);
      ICEBLINK_RETURN_IF_ERROR(add_namespace(levels));
    }
    return Ok{};
  }

  Status add_namespace(const Namespace& levels) {
    std::string line = R"({"kind":"namespace","namespace":)";
    client::append_json_names(line, levels);
    if (!options_.without_properties) {
      const auto properties = catalog_.namespace_properties(levels);
      // Dropped since the snapshot was taken: what it had is not known any more.
      if (!properties && properties.error().kind() != ErrorKind::kNotFound) {
        return {properties.error().kind(),
                properties.error().message() +
                    " (properties are the daemon's to tell: --without-properties leaves them out)"};
      }
      line += R"(,"properties":)";
      client::append_json_properties(line, properties ? *properties : Properties());
    }
    ICEBLINK_RETURN_IF_ERROR(lines_.add(line + "}"));
    ICEBLINK_ASSIGN_OR_RETURN(const auto tables, snapshot_.list_tables(levels));
    for (const auto& name : tables) ICEBLINK_RETURN_IF_ERROR(add_object({levels, name}));
    ICEBLINK_ASSIGN_OR_RETURN(const auto views, snapshot_.list_views(levels));
    for (const auto& name : views) ICEBLINK_RETURN_IF_ERROR(add_object({levels, name}));
    return add_children(levels);
  }

  Status add_object(const TableIdent& ident) {
    ICEBLINK_ASSIGN_OR_RETURN(const auto found, snapshot_.find(ident));
    const std::string_view location = found ? found->metadata_location() : std::string_view();
    if (!found || !is_utf8(location)) {
      return {ErrorKind::kCorrupt, format(ident) + ": is damaged in the segment"};
    }
    std::string line = R"({"kind":")";
    line += found->kind() == ObjectKind::kView ? "view" : "table";
    line += R"(","namespace":)";
    client::append_json_names(line, ident.levels);
    line += R"(,"name":)";
    client::append_json_string(line, ident.name);
    line += R"(,"metadata-location":)";
    client::append_json_string(line, location);
    const auto uuid = found->table_uuid();
    if (!is_zero(uuid)) line += R"(,"table-uuid":")" + uuid_text(uuid) + "\"";
    const auto fingerprint = found->metadata_fingerprint();
    if (is_zero(fingerprint)) {
      line += R"(,"unverified":true)";
    } else {
      line += R"(,"metadata-fingerprint":")" + iceberg::to_hex(fingerprint) + "\"";
    }
    if (found->format_version() != 0) {
      line += R"(,"format-version":)" + std::to_string(found->format_version());
    }
    progress_.show(++count_);
    return lines_.add(line + "}");
  }

  const Catalog& catalog_;
  const Snapshot snapshot_;
  const Export& options_;
  Lines lines_;
  Progress progress_{"tables", std::nullopt};
  std::uint64_t count_ = 0;
};

Result<ExitCode> run_export(const Invocation& invocation, const Export& options) {
  Namespace below;
  if (options.below) {
    auto parsed = parse_namespace(*options.below);
    if (!parsed) return usage_error(parsed.error());
    below = std::move(*parsed);
  }
  ICEBLINK_ASSIGN_OR_RETURN(const Catalog catalog, invocation.open());
  ICEBLINK_ASSIGN_OR_RETURN(Snapshot snapshot, catalog.snapshot());
  if (!below.empty()) {
    ICEBLINK_ASSIGN_OR_RETURN(const bool exists, snapshot.namespace_exists(below));
    if (!exists) return Error{ErrorKind::kNotFound, "Namespace does not exist: " + format(below)};
  }
  const std::uint64_t generation = snapshot.generation();
  ICEBLINK_ASSIGN_OR_RETURN(Lines lines, Lines::to(options.output));
  Exporter exporter(catalog, std::move(snapshot), options, std::move(lines));
  ICEBLINK_RETURN_IF_ERROR(exporter.run(below));
  if (options.output) {
    print_line("exported " + std::to_string(exporter.count()) + " tables and views of generation " +
               std::to_string(generation));
  }
  return ExitCode::kYes;
}

}  // namespace

void add_export_command(CLI::App& app, Invocation& invocation) {
  const auto options = std::make_shared<Export>();
  auto* const command =
      app.add_subcommand("export", "print the catalog as JSON lines, of one generation");
  command->add_option("--namespace", options->below, "only this namespace, and what is below it");
  command->add_option("--output", options->output, "a file, which is replaced as a whole");
  command->add_flag("--without-properties", options->without_properties,
                    "leave the namespaces' properties out; needs no daemon");
  command->callback([&invocation, options] {
    invocation.run = [&invocation, options] { return run_export(invocation, *options); };
  });
}

}  // namespace iceblink::cli
