#include "tests/fuzz/applied_commits.h"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "iceberg/commit/new_metadata.h"
#include "iceberg/metadata_parser.h"
#include "tests/fuzz/commit_bases.h"
#include "tests/fuzz/fuzz_check.h"

namespace iceblink::test {
namespace {

constexpr std::string_view kBaseLocation = "s3://b/t/metadata/2.metadata.json";
constexpr std::int64_t kNowMs = 1'700'000'100'000;

iceberg::CommitContext context_of(std::string_view base_location) {
  iceberg::CommitContext context;
  context.now_ms = kNowMs;
  context.base_location = base_location;
  context.fresh_uuid = {0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x41, 0x11, 0x81, 0x11};
  context.default_location = "file:///w/t-1";
  return context;
}

std::shared_ptr<TableMetadata> parsed_table(std::string_view text) {
  auto parsed = iceberg::parse_table_metadata(iceberg::ByteBuffer(text));
  fuzz_check(parsed.ok(), "a table can be read", parsed ? "" : parsed.error().message());
  return *parsed;
}

std::shared_ptr<ViewMetadata> parsed_view(std::string_view text) {
  auto parsed = iceberg::parse_view_metadata(iceberg::ByteBuffer(text));
  fuzz_check(parsed.ok(), "a view can be read", parsed ? "" : parsed.error().message());
  return *parsed;
}

/// Parsed once, for all inputs.
const std::array<std::shared_ptr<TableMetadata>, 3>& base_tables() {
  static const std::array<std::shared_ptr<TableMetadata>, 3> tables{
      parsed_table(kBaseTableV1), parsed_table(base_table_v2()), parsed_table(base_table_v3())};
  return tables;
}

const ViewMetadata& base_view() {
  static const std::shared_ptr<ViewMetadata> view = parsed_view(kBaseView);
  return *view;
}

void check_error(const Error& error) {
  fuzz_check(error.kind() == ErrorKind::kInvalidArgument || error.kind() == ErrorKind::kConflict,
             "a refusal is the client's fault, or that of others", error.message());
  fuzz_check(!error.message().empty(), "a refusal says something");
}

void check_valid(const std::string& json) {
  const auto problems = iceberg::check_metadata(iceberg::ByteBuffer(json));
  fuzz_check(problems.ok(), "what was made can be checked");
  if (problems->empty()) return;
  const auto& first = problems->front();
  fuzz_check(false, "what was made is valid", first.path + ": " + first.what + "\n" + json);
}

void check_continues(const TableMetadata& base, const TableMetadata& made,
                     const std::string& json) {
  fuzz_check(made.table_uuid == base.table_uuid || !base.table_uuid, "the uuid stays", json);
  fuzz_check(made.format_version >= base.format_version, "the format never goes down", json);
  fuzz_check(made.last_column_id >= base.last_column_id, "last-column-id grows", json);
  fuzz_check(made.last_partition_id >= base.last_partition_id, "last-partition-id grows", json);
  fuzz_check(made.last_sequence_number >= base.last_sequence_number, "last-sequence-number grows",
             json);
  fuzz_check(made.last_updated_ms >= base.last_updated_ms, "last-updated-ms grows", json);
  fuzz_check(made.next_row_id.value_or(0) >= base.next_row_id.value_or(0), "next-row-id grows",
             json);
  fuzz_check(!base.current_snapshot_id || made.format_version < 3 || made.next_row_id.has_value(),
             "format 3 has row ids", json);
  const auto log = made.metadata_log();
  fuzz_check(log.ok() && !log->empty() && log->back().metadata_file == kBaseLocation,
             "the metadata-log ends with the base", json);
}

/// Every id up to last-column-id, and every field of a partition up to last-partition-id.
void check_last_ids(const TableMetadata& made, const std::string& json) {
  for (const auto& schema : made.schemas) {
    for (const auto& field : schema.fields) {
      fuzz_check(field.id <= made.last_column_id, "last-column-id is the highest", json);
    }
  }
  for (const auto& spec : made.partition_specs) {
    for (const auto& field : spec.fields) {
      fuzz_check(field.field_id <= made.last_partition_id, "last-partition-id is the highest",
                 json);
    }
  }
}

void check_settled(const TableMetadata& made, const std::string& json) {
  const auto again = iceberg::commit_table(&made, {}, context_of(kBaseLocation));
  fuzz_check(again.ok(), "what was made can be the base of a commit",
             again ? json : again.error().message());
  fuzz_check(again->is_unchanged(), "a commit of nothing changes nothing", json);
}

/// False: it was refused.
bool check_table(const TableMetadata* base, const Result<iceberg::NewMetadata>& result) {
  if (!result) {
    check_error(result.error());
    return false;
  }
  if (result->is_unchanged()) {
    fuzz_check(base != nullptr, "what is new is a change");
    fuzz_check(result->uuid == base->table_uuid.value_or(iceberg::Uuid{}) &&
                   result->location == base->location &&
                   result->format_version == base->format_version,
               "nothing has changed");
    return true;
  }
  check_valid(result->json);
  const auto made = parsed_table(result->json);
  fuzz_check(made->table_uuid.value_or(iceberg::Uuid{}) == result->uuid, "its uuid", result->json);
  fuzz_check(made->location == result->location, "its location", result->json);
  fuzz_check(made->format_version == result->format_version, "its format", result->json);
  check_last_ids(*made, result->json);
  check_settled(*made, result->json);
  if (base != nullptr) check_continues(*base, *made, result->json);
  if (base != nullptr) return true;
  fuzz_check(made->table_uuid.has_value(), "a new table has a uuid", result->json);
  const auto log = made->metadata_log();
  fuzz_check(log.ok() && log->empty(), "a new table has no past", result->json);
  return true;
}

/// `apply` says of a commit whether it was done. What it refuses of the updates is left out.
template <typename Commit, typename Apply>
void apply_what_is_accepted(const Commit& commit, const Apply& apply) {
  Commit accepted = commit;
  accepted.updates.clear();
  for (const auto& update : commit.updates) {
    accepted.updates.push_back(update);
    if (!apply(accepted)) accepted.updates.pop_back();
  }
}

template <typename Commit>
Commit without_requirements(const Commit& commit) {
  Commit changed = commit;
  changed.requirements.clear();
  return changed;
}

bool check_view(const ViewMetadata* base, const Result<iceberg::NewMetadata>& result) {
  if (!result) {
    check_error(result.error());
    return false;
  }
  if (result->is_unchanged()) {
    fuzz_check(base != nullptr, "what is new is a change");
    fuzz_check(result->uuid == base->view_uuid && result->location == base->location,
               "nothing has changed");
    return true;
  }
  check_valid(result->json);
  const auto made = parsed_view(result->json);
  fuzz_check(made->view_uuid == result->uuid, "its uuid", result->json);
  fuzz_check(made->location == result->location, "its location", result->json);
  fuzz_check(result->format_version == 1, "its format", result->json);
  fuzz_check(base == nullptr || made->view_uuid == base->view_uuid, "the uuid stays", result->json);
  const auto again = iceberg::commit_view(*made, {}, context_of(kBaseLocation));
  fuzz_check(again.ok() && again->is_unchanged(), "a commit of nothing changes nothing",
             again ? result->json : again.error().message());
  return true;
}

}  // namespace

void check_applied(const iceberg::TableCommit& commit) {
  const auto context = context_of(kBaseLocation);
  for (const auto& base : base_tables()) {
    check_table(base.get(), iceberg::commit_table(base.get(), commit, context));
    const auto free = without_requirements(commit);
    const auto apply = [&](const iceberg::TableCommit& one) {
      return check_table(base.get(), iceberg::commit_table(base.get(), one, context));
    };
    if (!apply(free)) apply_what_is_accepted(free, apply);
  }
  const auto creation = context_of({});
  check_table(nullptr, iceberg::commit_table(nullptr, commit, creation));
  auto creating = commit;
  creating.requirements.assign(1, iceberg::AssertCreate{});
  check_table(nullptr, iceberg::commit_table(nullptr, creating, creation));
}

void check_applied(const iceberg::ViewCommit& commit) {
  const auto context = context_of(kBaseLocation);
  check_view(&base_view(), iceberg::commit_view(base_view(), commit, context));
  const auto free = without_requirements(commit);
  const auto apply = [&](const iceberg::ViewCommit& one) {
    return check_view(&base_view(), iceberg::commit_view(base_view(), one, context));
  };
  if (!apply(free)) apply_what_is_accepted(free, apply);
}

void check_created(const iceberg::TableCreationRequest& request) {
  check_table(nullptr, iceberg::create_table(request, context_of({})));
}

void check_created(const iceberg::ViewCreationRequest& request) {
  check_view(nullptr, iceberg::create_view(request, context_of({})));
}

}  // namespace iceblink::test
