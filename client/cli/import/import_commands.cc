// `iceblink import`: its sources and their options, and what is said of the import.
#include <boost/json/serialize.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "client/cli/import/folder_source.h"
#include "client/cli/import/importer.h"
#include "client/cli/import/jsonl_source.h"
#include "client/cli/import/postgres_source.h"
#include "client/cli/import/rest_source.h"
#include "client/cli/import/sqlite_source.h"
#include "client/cli/invocation.h"
#include "client/cli/output.h"
#include "client/cli/progress.h"
#include "iceberg/utf8.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kStepsPerVerifiedBatch = 500;
constexpr std::size_t kStepsPerUnverifiedBatch = 10'000;
/// A batch whose metadata files are read takes as long as they do.
constexpr std::chrono::minutes kBatchDeadline{2};

using OpenSource = std::function<Result<std::unique_ptr<Source>>()>;

/// What all sources have in common.
struct ImportFlags {
  bool dry_run = false;
  bool overwrite = false;
  bool unverified = false;
  bool stop_on_error = false;
  std::optional<std::string> below;
  std::optional<std::size_t> batch;
  std::uint64_t wait_s = 30;

  void add_to(CLI::App& app) {
    app.add_flag("--dry-run", dry_run, "say what would be done, and change nothing");
    app.add_flag("--overwrite", overwrite, "move the pointers of tables that are elsewhere");
    app.add_flag("--unverified", unverified, "do not read the metadata files first");
    app.add_flag("--stop-on-error", stop_on_error,
                 "end at the first table that fails, instead of going on with the others");
    app.add_option("--namespace", below, "put all below this namespace");
    app.add_option("--batch", batch, "operations a commit [500; 10000 with --unverified]")
        ->check(CLI::Range(1, 1'000'000));
    app.add_option("--wait", wait_s, "seconds to wait for a daemon that is away")
        ->check(CLI::Range(0, 86'400))
        ->capture_default_str();
  }

  [[nodiscard]] Result<ImportOptions> options() const {
    ImportOptions options;
    if (dry_run) options.effect = ImportOptions::Effect::kNone;
    if (overwrite) options.if_elsewhere = ImportOptions::IfElsewhere::kMove;
    if (stop_on_error) options.on_failure = ImportOptions::OnFailure::kStop;
    if (unverified) options.verification = RegisterOptions::Verification::kUnverified;
    if (below) {
      ICEBLINK_ASSIGN_OR_RETURN(options.below, parse_namespace(*below));
    }
    options.steps_per_batch =
        batch.value_or(unverified ? kStepsPerUnverifiedBatch : kStepsPerVerifiedBatch);
    options.wait = std::chrono::seconds(wait_s);
    return options;
  }
};

/// Prints as the import goes: what went wrong on standard error, what a dry run would do on
/// standard output.
class Printer final : public Importer::Listener {
 public:
  Printer(const Invocation& invocation, std::optional<std::uint64_t> total)
      : is_json_(invocation.is_json()), progress_("tables", total) {}

  void planned(const Step& step) override {
    using enum Step::Op;
    const std::string_view op = step.op == kMove ? "move" : "create";
    const bool is_namespace = step.op == kCreateNamespace;
    if (!is_json_) {
      return lines_.add(on_one_line(std::string(op) + " " + step.name() +
                                    (is_namespace ? "" : " " + step.object.metadata_location)));
    }
    json::object line{{"op", op}};
    if (is_namespace) {
      line["kind"] = "namespace";
      line["namespace"] = to_json(step.space.levels);
    } else {
      line["kind"] = step.object.kind == ObjectKind::kView ? "view" : "table";
      line["namespace"] = to_json(step.object.ident.levels);
      line["name"] = step.object.ident.name;
      line["metadata-location"] = step.object.metadata_location;
    }
    lines_.add(json::serialize(line));
  }
  void conflict(const std::string& name, const std::string& why) override {
    print_error("conflict: " + name + " " + why);
  }
  void failed(const std::string& message) override { print_error(message); }
  void progressed(std::uint64_t read) override { progress_.show(read); }

 private:
  const bool is_json_;
  LineBuffer lines_;
  Progress progress_;
};

void print_counts(const Invocation& invocation, const ImportOptions& options,
                  const ImportCounts& counts) {
  const bool is_dry = options.effect == ImportOptions::Effect::kNone;
  if (invocation.is_json()) {
    return print_json(json::object{{"dry-run", is_dry},
                                   {"read", counts.read},
                                   {"created", counts.created},
                                   {"moved", counts.moved},
                                   {"skipped", counts.skipped},
                                   {"conflicts", counts.conflicts},
                                   {"failed", counts.failed},
                                   {"namespaces-created", counts.namespaces_created}});
  }
  const auto part = [](std::uint64_t count, const char* what) {
    return std::to_string(count) + " " + what;
  };
  print_line((is_dry ? "dry run: " : "") + part(counts.read, "read, ") +
             part(counts.created, "created, ") + part(counts.moved, "moved, ") +
             part(counts.skipped, "skipped, ") + part(counts.conflicts, "conflicts, ") +
             part(counts.failed, "failed; ") +
             part(counts.namespaces_created, "namespaces created"));
}

Result<ExitCode> run_import(const Invocation& invocation, const ImportFlags& flags,
                            const OpenSource& open) {
  auto options = flags.options();
  if (!options) return usage_error(options.error());
  ICEBLINK_ASSIGN_OR_RETURN(const auto source, open());
  CatalogOptions catalog_options = invocation.options;
  catalog_options.write_deadline = kBatchDeadline;
  catalog_options.attach_timeout = options->wait;
  ICEBLINK_ASSIGN_OR_RETURN(Catalog catalog,
                            Catalog::open(invocation.runtime_dir, std::move(catalog_options)));
  Status done = Ok{};
  ImportCounts counts;
  {
    Printer printer(invocation, source->total());
    Importer importer(std::move(catalog), *options, printer);
    done = importer.run(*source);
    counts = importer.counts();
  }
  print_counts(invocation, *options, counts);
  if (!done) return done.error();
  if (counts.failed > 0) return ExitCode::kInvalid;
  return counts.conflicts > 0 ? ExitCode::kConflict : ExitCode::kYes;
}

/// A source's command, with the options that all have.
CLI::App* add_source(CLI::App& import, Invocation& invocation, const char* name, const char* what,
                     OpenSource open) {
  auto* const command = import.add_subcommand(name, what);
  const auto flags = std::make_shared<ImportFlags>();
  flags->add_to(*command);
  command->callback([&invocation, flags, open = std::move(open)] {
    invocation.run = [&invocation, flags, open] { return run_import(invocation, *flags, open); };
  });
  return command;
}

void add_folder(CLI::App& import, Invocation& invocation) {
  const auto options = std::make_shared<FolderOptions>();
  auto* const command = add_source(import, invocation, "folder",
                                   "from a folder of tables, the newest metadata of each",
                                   [options] { return open_folder(*options); });
  command->add_option("DIR", options->path)->required();
  command->add_flag_callback(
      "--keep-db-suffix", [options] { options->db_suffix = FolderOptions::DbSuffix::kKept; },
      "keep the .db that Hive and Spark put behind a namespace's directory");
}

void add_sql(CLI::App& import, Invocation& invocation) {
  struct SqlOptions {
    std::string where;
    std::optional<std::string> catalog;
  };
  const auto sqlite = std::make_shared<SqlOptions>();
  auto* const file =
      add_source(import, invocation, "sqlite", "from a SQL or JDBC catalog in a SQLite file",
                 [sqlite] { return open_sqlite(sqlite->where, sqlite->catalog); });
  file->add_option("FILE", sqlite->where)->required();
  file->add_option("--catalog", sqlite->catalog, "which of the file's catalogs");

  const auto postgres = std::make_shared<SqlOptions>();
  auto* const server =
      add_source(import, invocation, "postgres", "from a SQL or JDBC catalog in PostgreSQL",
                 [postgres] { return open_postgres(postgres->where, postgres->catalog); });
  server
      ->add_option("CONNINFO", postgres->where,
                   "\"host=… dbname=…\" or postgresql://…; the password from ~/.pgpass or "
                   "$PGPASSWORD")
      ->required();
  server->add_option("--catalog", postgres->catalog, "which of the database's catalogs");
}

void add_rest(CLI::App& import, Invocation& invocation) {
  const auto options = std::make_shared<RestOptions>();
  auto* const command = add_source(import, invocation, "rest", "from an Iceberg REST catalog",
                                   [options] { return open_rest(*options); });
  command->add_option("URL", options->url, "http:// or https://, without /v1")->required();
  command->add_option("--token-file", options->token_file, "the bearer token, in a file");
  command->add_option("--warehouse", options->warehouse, "what the catalog is asked for");
  command->add_option("--ca-file", options->ca_file,
                      "certificates to trust, instead of the system's");
}

void add_jsonl(CLI::App& import, Invocation& invocation) {
  const auto path = std::make_shared<std::string>();
  auto* const command =
      add_source(import, invocation, "jsonl", "from JSON lines, as `iceblink export` writes them",
                 [path] { return open_jsonl(*path); });
  command->add_option("FILE", *path, "- for standard input")->required();
}

}  // namespace

void add_import_commands(CLI::App& app, Invocation& invocation) {
  auto* const import = app.add_subcommand(
      "import", "register what a folder or another catalog has; may be run again");
  import->require_subcommand(1);
  add_folder(*import, invocation);
  add_sql(*import, invocation);
  add_rest(*import, invocation);
  add_jsonl(*import, invocation);
}

}  // namespace iceblink::cli
