// Commits and transactions from JSON (Iceberg REST specification, "CommitTableRequest",
// "CommitViewRequest", "CommitTransactionRequest").
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/commit/commit_request.h"
#include "iceberg/commit/request_reader.h"
#include "iceberg/commit/requirement_reader.h"
#include "iceberg/commit/update_reader.h"
#include "iceberg/member_set.h"

namespace iceblink::iceberg {
namespace {

enum class Member { kIdentifier, kRequirements, kUpdates };

/// The members of a commit. Which of them are there is the caller's to judge.
template <typename Commit, typename Update>
MemberSet<Member> read_members(JsonReader& reader, Commit& commit,
                               Requirement (*read_requirement)(JsonReader&),
                               Update (*read_update)(JsonReader&)) {
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "identifier")) {
      if (!members.add(reader, Member::kIdentifier) || reader.take_null()) return;
      commit.identifier = read_identifier(reader);
    } else if (is(key, "requirements")) {
      if (!members.add(reader, Member::kRequirements)) return;
      reader.read_array([&] { commit.requirements.push_back(read_requirement(reader)); });
    } else if (is(key, "updates")) {
      if (!members.add(reader, Member::kUpdates)) return;
      reader.read_array([&] { commit.updates.push_back(read_update(reader)); });
    } else {
      reader.skip();
    }
  });
  return members;
}

void read_table_commit(JsonReader& reader, TableCommit& commit) {
  const auto members = read_members(reader, commit, read_table_requirement, read_table_update);
  members.require(reader, {{Member::kRequirements, "requirements"}, {Member::kUpdates, "updates"}});
}

void read_view_commit(JsonReader& reader, ViewCommit& commit) {
  const auto members = read_members(reader, commit, read_view_requirement, read_view_update);
  members.require(reader, {{Member::kUpdates, "updates"}});
}

std::vector<TableCommit> read_table_changes(JsonReader& reader) {
  std::vector<TableCommit> changes;
  std::set<std::string> seen;
  const JsonReader::Watch watch(reader);
  reader.read_array([&] {
    TableCommit& commit = changes.emplace_back();
    read_table_commit(reader, commit);
    if (!watch.all_is_well()) return;
    if (!commit.identifier) {
      reader.report("is missing", "identifier");
    } else if (!seen.insert(encode(*commit.identifier)).second) {
      reader.report(format(*commit.identifier) + " stands twice", "identifier");
    }
  });
  if (watch.all_is_well() && changes.empty()) reader.report("is empty");
  return changes;
}

}  // namespace

Result<std::shared_ptr<const TableCommitRequest>> parse_table_commit(
    std::string_view body) noexcept {
  return read_request<TableCommitRequest>(body, [](JsonReader& reader, TableCommitRequest& into) {
    read_table_commit(reader, into.commit);
  });
}

Result<std::shared_ptr<const ViewCommitRequest>> parse_view_commit(std::string_view body) noexcept {
  return read_request<ViewCommitRequest>(body, [](JsonReader& reader, ViewCommitRequest& into) {
    read_view_commit(reader, into.commit);
  });
}

Result<std::shared_ptr<const TransactionRequest>> parse_transaction(
    std::string_view body) noexcept {
  return read_request<TransactionRequest>(body, [](JsonReader& reader, TransactionRequest& into) {
    into.table_changes = read_member(reader, "table-changes", read_table_changes);
  });
}

}  // namespace iceblink::iceberg
