#include "tests/faults/commit_scenarios.h"

#include <charconv>

#include "tests/process/rest_requests.h"

namespace iceblink::test {
namespace {

using faults::Call;

constexpr const char* kTables = "/v1/namespaces/ns/tables";
const std::vector<std::string> kPointers{"p1", "p2", "p3"};
const std::vector<std::string> kFlipped{"f1", "f2"};
const std::vector<std::string> kTogether{"x", "y"};

std::string register_line(const std::string& table, std::uint64_t version, std::size_t padding) {
  const std::string number = std::to_string(version);
  return R"({"op":"register","namespace":["ns"],"name":")" + table +
         R"(","metadata-location":"/none/)" + std::string(padding, 'd') + "/" + number +
         R"(-x.metadata.json","overwrite":true,"unverified":true})" + "\n";
}

HttpRequest post(std::string target, std::string body) {
  return {.verb = "POST", .target = std::move(target), .body = std::move(body)};
}

HttpRequest register_all(const std::vector<std::string>& tables, std::uint64_t version,
                         std::size_t padding) {
  std::string lines;
  for (const auto& table : tables) lines += register_line(table, version, padding);
  return post("/iceblink/v1/batch", lines);
}

HttpRequest transaction(int attempt) {
  std::string changes;
  for (const auto& table : kTogether) {
    if (!changes.empty()) changes += ',';
    std::string change = set_property("n", std::to_string(attempt));
    change.insert(1, R"("identifier":{"namespace":["ns"],"name":")" + table + R"("},)");
    changes += change;
  }
  return post("/v1/transactions/commit", R"({"table-changes":[)" + changes + "]}");
}

auto always(std::vector<std::string> tables) {
  return [tables = std::move(tables)](int) { return tables; };
}

CommitScenario pointers() {
  return {"pointers",
          always(kPointers),
          [](int, const Version& from) { return register_all(kPointers, *from + 1, 4); },
          {Call::kAccept, Call::kRecv, Call::kWritev, Call::kLseek, Call::kFdatasync, Call::kPwrite,
           Call::kSendmsg, Call::kEpollWait}};
}

// Each record fills more than a half of the least room, so that a new arena is needed each time.
CommitScenario flip() {
  return {"flip",
          always(kFlipped),
          [](int, const Version& from) { return register_all(kFlipped, *from + 1, 3500); },
          {Call::kOpen, Call::kMmap, Call::kFallocate, Call::kUnlink, Call::kPwrite}};
}

CommitScenario create() {
  return {"create",
          [](int attempt) { return std::vector<std::string>{"c" + std::to_string(attempt)}; },
          [](int attempt, const Version&) {
            return post(kTables, creation_of("c" + std::to_string(attempt)));
          },
          {Call::kOpenat, Call::kOpenat2, Call::kMkdirat, Call::kWrite, Call::kFchmod, Call::kFsync,
           Call::kLinkat, Call::kFstat, Call::kStat, Call::kGetrandom, Call::kFdatasync,
           Call::kPwrite}};
}

CommitScenario change() {
  return {"change",
          always({"r"}),
          [](int attempt, const Version&) {
            return post(std::string(kTables) + "/r", set_property("n", std::to_string(attempt)));
          },
          {Call::kOpen, Call::kOpenat2, Call::kOpenat, Call::kRead, Call::kWrite, Call::kFsync,
           Call::kLinkat, Call::kFdatasync, Call::kPwrite}};
}

CommitScenario together() {
  return {"together",
          always(kTogether),
          [](int attempt, const Version&) { return transaction(attempt); },
          {Call::kOpenat, Call::kOpenat2, Call::kWrite, Call::kFsync, Call::kLinkat,
           Call::kFdatasync, Call::kPwrite}};
}

/// The one version of all of `tables`, or what is wrong.
std::string judge_group(const Snapshot& snapshot, const std::vector<std::string>& tables) {
  Version first;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto found = snapshot.find({{"ns"}, tables[i]});
    if (!found) return tables[i] + ": " + found.error().message();
    Version version;
    if (*found) version = version_of((*found)->metadata_location());
    if (i == 0) first = version;
    if (version != first) return "a mixture: " + tables[i] + " is not as " + tables[0];
  }
  return {};
}

}  // namespace

std::vector<std::string> scenario_arguments() {
  return {"--headroom-bytes", "4096", "--log-level", "warning", "--http-threads", "2"};
}

std::vector<HttpRequest> preparations() {
  std::vector<HttpRequest> requests{post("/v1/namespaces", R"({"namespace":["ns"]})")};
  requests.push_back(register_all(kPointers, 0, 4));
  requests.push_back(register_all(kFlipped, 0, 3500));
  for (const char* const table : {"r", "x", "y"}) {
    requests.push_back(post(kTables, creation_of(table)));
  }
  return requests;
}

std::vector<CommitScenario> commit_scenarios() {
  return {pointers(), flip(), create(), change(), together()};
}

std::uint64_t version_of(std::string_view location) {
  const auto name = location.substr(location.rfind('/') + 1);
  std::uint64_t version = 0;
  std::from_chars(name.data(), name.data() + name.size(), version);
  return version;
}

Outcome outcome_of(const std::optional<HttpResponse>& answer) {
  if (!answer || answer->status == 500 || answer->status == 504) return Outcome::kUnknown;
  return answer->status == 200 || answer->status == 204 ? Outcome::kDone : Outcome::kRefused;
}

std::string judge_snapshot(Catalog& catalog) {
  const auto snapshot = catalog.snapshot();
  if (!snapshot) return "snapshot: " + snapshot.error().message();
  for (const auto* group : {&kPointers, &kFlipped, &kTogether}) {
    if (auto wrong = judge_group(*snapshot, *group); !wrong.empty()) return wrong;
  }
  for (const char* const table : {"r", "x", "y"}) {
    const auto metadata = catalog.resolve_metadata(TableIdent{{"ns"}, table});
    if (!metadata) return std::string(table) + ": " + metadata.error().message();
  }
  return {};
}

}  // namespace iceblink::test
