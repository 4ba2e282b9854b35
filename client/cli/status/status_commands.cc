// The instance on one screen.
#include "client/cli/output.h"
#include "client/cli/status/instance_status.h"

namespace iceblink::cli {
namespace {

Result<ExitCode> print_status(const Invocation& invocation) {
  const InstanceStatus status = look_at_instance(invocation);
  if (invocation.is_json()) {
    print_json(status_json(status));
  } else {
    for (const auto& line : status_lines(status)) print_line(line);
  }
  return exit_code_of(status);
}

}  // namespace

void add_status_commands(CLI::App& app, Invocation& invocation) {
  app.add_subcommand("status",
                     "show the instance on one screen (exit code 3: no daemon answers; 7: it may "
                     "not be asked)")
      ->callback(
          [&invocation] { invocation.run = [&invocation] { return print_status(invocation); }; });
}

}  // namespace iceblink::cli
