// Bodies of requests, each read as every kind of request, and applied.
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "iceberg/commit/commit_request.h"
#include "iceberg/metadata_text.h"
#include "iceberg/utf8.h"
#include "tests/fuzz/applied_commits.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/json_judgement.h"

namespace iceblink::test {

const FuzzedText kFuzzedText = FuzzedText::kJson;

namespace {

constexpr std::size_t kBodyBytesMax = 1 << 20;

/// What holds of any parser's result.
template <typename T>
void check_result(const Result<T>& parsed, std::string_view text) {
  if (parsed) {
    fuzz_check(judge_json(text) != JsonJudgement::kInvalid, "what is accepted is JSON");
    return;
  }
  const Error error = parsed.error();
  fuzz_check(error.kind() == ErrorKind::kInvalidArgument || error.kind() == ErrorKind::kTooLarge,
             "an error is the client's", error.message());
  fuzz_check(!error.message().empty() && on_one_line(error.message()) == error.message(),
             "an error says something, on one line", error.message());
}

void check_transaction(const iceberg::TransactionRequest& request) {
  std::set<TableIdent> tables;
  fuzz_check(!request.table_changes.empty(), "a transaction changes something");
  for (const auto& change : request.table_changes) {
    fuzz_check(change.identifier.has_value(), "a change names its table");
    fuzz_check(validate(*change.identifier).ok(), "by a valid name");
    fuzz_check(tables.insert(*change.identifier).second, "of its own");
  }
}

/// A commit that stands by itself can stand in a transaction, if it names its table.
void check_as_transaction(const iceberg::TableCommit& commit, std::string_view text) {
  const auto parsed = iceberg::parse_transaction("{\"table-changes\":[" + std::string(text) + "]}");
  if (!parsed && parsed.error().kind() == ErrorKind::kTooLarge) return;
  fuzz_check(parsed.ok() == commit.identifier.has_value(), "a commit, alone and among others");
  if (!parsed) return;
  const auto& change = (*parsed)->table_changes.at(0);
  fuzz_check(change.identifier == commit.identifier &&
                 change.requirements.size() == commit.requirements.size() &&
                 change.updates.size() == commit.updates.size(),
             "a commit is the same among others");
}

void check_body(std::string_view body) {
  const std::string_view text = body.substr(iceberg::bom_bytes_of(body));
  const auto table_commit = iceberg::parse_table_commit(body);
  check_result(table_commit, text);
  if (table_commit) {
    check_as_transaction((*table_commit)->commit, text);
    check_applied((*table_commit)->commit);
  }
  const auto view_commit = iceberg::parse_view_commit(body);
  check_result(view_commit, text);
  if (view_commit) check_applied((*view_commit)->commit);
  const auto transaction = iceberg::parse_transaction(body);
  check_result(transaction, text);
  if (transaction) check_transaction(**transaction);
  const auto table = iceberg::parse_table_creation(body);
  check_result(table, text);
  if (table) {
    fuzz_check(validate_name((*table)->name).ok(), "a new table has a valid name");
    check_created(**table);
  }
  const auto view = iceberg::parse_view_creation(body);
  check_result(view, text);
  if (view) {
    fuzz_check(validate_name((*view)->name).ok(), "a new view has a valid name");
    check_created(**view);
  }
}

}  // namespace
}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > iceblink::test::kBodyBytesMax) return 0;
  iceblink::test::check_body({reinterpret_cast<const char*>(data), size});
  return 0;
}
