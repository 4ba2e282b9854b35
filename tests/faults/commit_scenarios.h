// Commits that a fault is to hit: what each asks for, what it changes, and what calls it must make.
//
// A table's state is the number that its metadata file's name begins with: how often it was
// committed to. A table that is not there has none.
#pragma once

#include <iceblink/catalog.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "faults/calls.h"
#include "tests/http/http_client.h"

namespace iceblink::test {

/// The version of a table; nothing: it is not there.
using Version = std::optional<std::uint64_t>;

struct CommitScenario {
  std::string name;
  /// All of them change at once, from one version to the next one.
  std::function<std::vector<std::string>(int attempt)> tables;
  std::function<HttpRequest(int attempt, const Version& from)> request;
  /// Without one of these, the scenario is not what it says.
  std::vector<faults::Call> must_make;
};

/// Whose daemon runs with little room in its arenas, so that the scenario "flip" makes new ones.
[[nodiscard]] std::vector<std::string> scenario_arguments();
/// A namespace, and the tables that the scenarios change.
[[nodiscard]] std::vector<HttpRequest> preparations();
[[nodiscard]] std::vector<CommitScenario> commit_scenarios();

/// The first number in the location's file name.
[[nodiscard]] std::uint64_t version_of(std::string_view location);

/// Of the daemon's answer 200 or 204; all of 400 to 499, 503 and 507; 500, 504 and no answer.
enum class Outcome { kDone, kRefused, kUnknown };
[[nodiscard]] Outcome outcome_of(const std::optional<HttpResponse>& answer);

/// What is wrong with one snapshot of any reader: a commit that is there in parts, or a table whose
/// metadata cannot be had. Empty: nothing.
[[nodiscard]] std::string judge_snapshot(Catalog& catalog);

}  // namespace iceblink::test
