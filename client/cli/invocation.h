// One run of the program: its common options, and the command that was chosen.
#pragma once

#include <iceblink/catalog.h>
#include <iceblink/result.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "client/cli/exit_code.h"

namespace iceblink::cli {

enum class Format : std::uint8_t { kText, kJson };

struct Invocation {
  std::string runtime_dir;
  CatalogOptions options;
  Format format = Format::kText;
  /// Set by the command that was chosen. An error is printed, and decides the exit code.
  std::function<Result<ExitCode>()> run;

  [[nodiscard]] bool is_json() const noexcept { return format == Format::kJson; }
  [[nodiscard]] Result<Catalog> open() const { return Catalog::open(runtime_dir, options); }
};

// Each group of commands, in a file of its own.
void add_status_commands(CLI::App& app, Invocation& invocation);
void add_top_command(CLI::App& app, Invocation& invocation);
void add_doctor_command(CLI::App& app, Invocation& invocation);
void add_verify_command(CLI::App& app, Invocation& invocation);
void add_read_commands(CLI::App& app, Invocation& invocation);
void add_metadata_commands(CLI::App& app, Invocation& invocation);
void add_table_commands(CLI::App& app, Invocation& invocation);
void add_file_commands(CLI::App& app, Invocation& invocation);
void add_write_commands(CLI::App& app, Invocation& invocation);
void add_feed_commands(CLI::App& app, Invocation& invocation);
void add_backup_command(CLI::App& app, Invocation& invocation);
void add_import_commands(CLI::App& app, Invocation& invocation);
void add_export_command(CLI::App& app, Invocation& invocation);

}  // namespace iceblink::cli
