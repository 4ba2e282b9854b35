// The command: a line a finding.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "client/cli/doctor/checks.h"
#include "client/cli/doctor/gather.h"
#include "client/cli/output.h"

namespace iceblink::cli {
namespace {

namespace json = boost::json;

std::string_view severity_text(Severity severity) {
  switch (severity) {
    case Severity::kProblem:
      return "PROBLEM";
    case Severity::kWarning:
      return "warning";
    case Severity::kOk:
      break;
  }
  return "ok";
}

std::string line_of(const Finding& finding) {
  std::string line(severity_text(finding.severity));
  line.resize(9, ' ');
  line += finding.check + ": " + finding.found;
  if (!finding.remedy.empty()) line += "; " + finding.remedy;
  return line;
}

struct Doctor {
  std::optional<std::string> data_dir;

  Result<ExitCode> run(const Invocation& invocation) const {
    const std::string instance = instance_of(invocation.runtime_dir);
    // First: the next look connects to the socket, and that starts a unit that has failed again.
    UnitFacts unit = gather_unit(instance);
    const Facts facts{gather_runtime(invocation), gather_user(), gather_kernel(),
                      gather_data(instance, data_dir), std::move(unit)};
    const Findings findings = check_all(facts);
    const auto& list = findings.list();
    json::array found;
    for (const Finding& finding : list) {
      if (invocation.is_json()) {
        found.push_back(json::object{{"severity", severity_text(finding.severity)},
                                     {"check", finding.check},
                                     {"found", finding.found},
                                     {"remedy", finding.remedy}});
      } else {
        print_line(line_of(finding));
      }
    }
    if (invocation.is_json()) print_json(json::object{{"findings", std::move(found)}});
    const bool is_wrong = std::any_of(list.begin(), list.end(), [](const Finding& finding) {
      return finding.severity == Severity::kProblem;
    });
    return is_wrong ? ExitCode::kNo : ExitCode::kYes;
  }
};

}  // namespace

void add_doctor_command(CLI::App& app, Invocation& invocation) {
  const auto doctor = std::make_shared<Doctor>();
  auto* const command = app.add_subcommand(
      "doctor",
      "name what is wrong with an installation, and how to mend it (exit code 1: a "
      "problem)");
  command->add_option("--data-dir", doctor->data_dir,
                      "the daemon's data directory [/var/lib/iceblink/INSTANCE]");
  command->callback([&invocation, doctor] {
    invocation.run = [&invocation, doctor] { return doctor->run(invocation); };
  });
}

}  // namespace iceblink::cli
