// iceblink: the catalog from the command line.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "client/cli/invocation.h"
#include "client/cli/output.h"
#include "iceberg/location_map.h"

namespace iceblink::cli {
namespace {

constexpr const char* kDefaultRuntimeDir = "/run/iceblink/main";

std::string default_runtime_dir() {
  const char* const given = std::getenv("ICEBLINK_DIR");
  return given != nullptr && *given != '\0' ? given : kDefaultRuntimeDir;
}

void add_options(CLI::App& app, Invocation& invocation) {
  app.set_version_flag("--version", "iceblink " ICEBLINK_VERSION);
  app.add_option("--dir", invocation.runtime_dir,
                 "the instance's runtime directory [$ICEBLINK_DIR, /run/iceblink/main]");
  app.add_option_function<std::vector<std::string>>(
         "--location-prefix",
         [&invocation](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             auto prefix = iceberg::parse_location_prefix(text);
             if (!prefix) throw CLI::ValidationError("--location-prefix", prefix.error().message());
             invocation.options.files.location_prefixes.push_back(std::move(*prefix));
           }
           const auto map = iceberg::LocationMap::of(invocation.options.files.location_prefixes);
           if (!map) throw CLI::ValidationError("--location-prefix", map.error().message());
         },
         "read locations below FROM below TO instead; repeatable")
      ->type_name("FROM=TO")
      ->allow_extra_args(false);  // one each time
  app.add_flag_callback(
      "--json", [&invocation] { invocation.format = Format::kJson; }, "print JSON");
  app.require_subcommand(1);
  app.fallthrough();  // these may follow the command
}

ExitCode run(int argc, char** argv) {
  CLI::App app("Reads and changes an Iceberg catalog that is shared by the processes of a host",
               "iceblink");
  Invocation invocation;
  invocation.runtime_dir = default_runtime_dir();
  add_options(app, invocation);
  add_status_commands(app, invocation);
  add_top_command(app, invocation);
  add_verify_command(app, invocation);
  add_doctor_command(app, invocation);
  add_read_commands(app, invocation);
  add_metadata_commands(app, invocation);
  add_table_commands(app, invocation);
  add_file_commands(app, invocation);
  add_write_commands(app, invocation);
  add_feed_commands(app, invocation);
  add_import_commands(app, invocation);
  add_export_command(app, invocation);
  add_backup_command(app, invocation);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return ExitCode::kYes;
  } catch (const CLI::ParseError& error) {
    const auto rest = app.remaining();
    const bool is_no_command =
        app.get_subcommands().empty() && !rest.empty() && !rest.front().starts_with('-');
    print_error((is_no_command ? "no such command: " + rest.front() : error.what()) +
                " (see iceblink --help)");
    return ExitCode::kUsage;
  }
  if (invocation.runtime_dir.empty()) {
    print_error("--dir names no directory");
    return ExitCode::kUsage;
  }
  const auto done = invocation.run();
  if (done && std::ferror(stdout) != 0) {
    print_error("standard output cannot be written");
    return ExitCode::kInternal;
  }
  if (done) return *done;
  print_error(done.error().message());
  return exit_code_of(done.error().kind());
}

}  // namespace
}  // namespace iceblink::cli

int main(int argc, char** argv) {
  using namespace iceblink::cli;
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const std::exception& error) {
    print_error(error.what());
    return static_cast<int>(ExitCode::kInternal);
  }
}
