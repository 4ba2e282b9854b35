#include "tests/fuzz/document_rules.h"

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "iceberg/metadata_parser.h"
#include "iceberg/metadata_text.h"
#include "iceberg/metadata_writer.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/json_judgement.h"
#include "tests/interop/metadata_dump.h"

namespace iceblink::test {
namespace {

using iceberg::ByteBuffer;
using Document = std::shared_ptr<MetadataDocument>;

/// Small, so that inputs reach them and memory does not grow.
constexpr MetadataLimits kLimits{.document_bytes_max = 1 << 20,
                                 .inflated_bytes_max = 1 << 20,
                                 .depth_max = 24,
                                 .elements_max = 128};
/// For what we write: it may be longer than what was read, and has more members.
constexpr MetadataLimits kLimitsOfWritten{.document_bytes_max = 16 << 20,
                                          .inflated_bytes_max = 16 << 20,
                                          .depth_max = 48,
                                          .elements_max = 512};

class CountingObserver final : public WeightObserver {
 public:
  void grew(const MetadataDocument&, std::size_t grown_bytes) noexcept override {
    grown_bytes_ += grown_bytes;
  }
  [[nodiscard]] std::size_t grown_bytes() const { return grown_bytes_; }

 private:
  std::atomic<std::size_t> grown_bytes_{0};
};

Result<Document> parse(std::string_view bytes, ReadAs read_as, const MetadataLimits& limits) {
  switch (read_as) {
    case ReadAs::kTable: {
      ICEBLINK_ASSIGN_OR_RETURN(auto table,
                                iceberg::parse_table_metadata(ByteBuffer(bytes), limits));
      return Document(std::move(table));
    }
    case ReadAs::kView: {
      ICEBLINK_ASSIGN_OR_RETURN(auto view, iceberg::parse_view_metadata(ByteBuffer(bytes), limits));
      return Document(std::move(view));
    }
    case ReadAs::kEither:
      break;
  }
  return iceberg::parse_metadata(ByteBuffer(bytes), limits);
}

Result<std::string> write(const MetadataDocument& document) {
  if (document.kind() == MetadataDocument::Kind::kView) {
    return iceberg::write_view_metadata(static_cast<const ViewMetadata&>(document));
  }
  return iceberg::write_table_metadata(static_cast<const TableMetadata&>(document));
}

void check_error(const Error& error) {
  const ErrorKind kind = error.kind();
  fuzz_check(kind == ErrorKind::kCorrupt || kind == ErrorKind::kUnsupported ||
                 kind == ErrorKind::kTooLarge,
             "an error is of a kind that is promised", to_string(kind));
  fuzz_check(!error.message().empty(), "an error says something");
}

/// The values; or the error of a lazy part.
Result<std::string> dump_all(const Document& document) {
  const auto observer = std::make_shared<CountingObserver>();
  document->add_weight_observer(observer);
  const std::size_t weight_bytes = document->weight_bytes();
  auto dump = dump_metadata(*document);
  fuzz_check(document->weight_bytes() == weight_bytes + observer->grown_bytes(),
             "the weight grows by what the observer is told");
  if (!dump) check_error(dump.error());
  return dump;
}

void check_schema(const Schema& schema) {
  for (const Field& field : schema.fields) {
    fuzz_check(schema.find_field(field.id) == &field, "a column is found by its id");
    fuzz_check(schema.find_column(field.name) != nullptr, "a column is found by its name");
  }
  for (const std::int32_t id : schema.identifier_field_ids) {
    const Field* const field = schema.find_field(id);
    fuzz_check(field != nullptr && field->required && !field->type.is_nested(),
               "what identifies rows is a required primitive");
  }
}

/// What is promised to be there is there: users follow these references unchecked.
void check_lookups(const TableMetadata& table) {
  fuzz_check(table.find_schema(table.current_schema_id) == &table.current_schema() &&
                 table.current_schema().schema_id == table.current_schema_id,
             "the current schema is there");
  fuzz_check(table.default_partition_spec().spec_id == table.default_spec_id,
             "the default partition spec is there");
  fuzz_check(table.default_sort_order().order_id == table.default_sort_order_id,
             "the default sort order is there");
  for (const Schema& schema : table.schemas) check_schema(schema);
  const SnapshotRef* const main = table.find_ref("main");
  fuzz_check((main != nullptr) == table.current_snapshot_id.has_value(),
             "there is a main branch where there is a current snapshot");
  fuzz_check(main == nullptr || main->snapshot_id == table.current_snapshot_id,
             "the main branch is the current snapshot");
  for (const SnapshotRef& ref : table.refs) {
    fuzz_check(table.find_ref(ref.name) == &ref, "a ref is found by its name");
    const auto snapshot = table.snapshot(ref.snapshot_id);
    fuzz_check(snapshot && *snapshot != nullptr && (*snapshot)->snapshot_id == ref.snapshot_id,
               "a ref's snapshot is there");
  }
}

void check_lookups(const ViewMetadata& view) {
  fuzz_check(view.current_version().version_id == view.current_version_id,
             "the current version is there");
  fuzz_check(view.current_schema().schema_id == view.current_version().schema_id,
             "the current schema is there");
  for (const Schema& schema : view.schemas) check_schema(schema);
  for (const ViewVersion& version : view.versions) {
    fuzz_check(view.find_version(version.version_id) == &version, "a version is found by its id");
    fuzz_check(view.find_schema(version.schema_id) != nullptr, "a version's schema is there");
    for (const ViewRepresentation& representation : version.representations) {
      fuzz_check(
          representation.type != "sql" || version.find_sql(representation.dialect) != nullptr,
          "SQL is found by its dialect");
    }
  }
}

void check_rewriting(const MetadataDocument& document, const std::string& dump) {
  const auto written = write(document);
  if (!written && written.error().kind() == ErrorKind::kInvalidArgument) {
    fuzz_check(document.kind() == MetadataDocument::Kind::kView, "every table can be written");
    return;
  }
  fuzz_check(written.ok(), "what was read can be written",
             written.ok() ? "" : written.error().message());
  fuzz_check(judge_json(*written) != JsonJudgement::kInvalid, "what is written is JSON", *written);
  const auto again = parse(*written, ReadAs::kEither, kLimitsOfWritten);
  fuzz_check(again.ok(), "what is written can be read", again.ok() ? "" : again.error().message());
  fuzz_check((*again)->kind() == document.kind(), "a table stays a table");
  const auto dump_again = dump_all(*again);
  fuzz_check(dump_again.ok(), "lazy parts of what is written can be read");
  if (*dump_again != dump) {
    fuzz_check(false, "written and read again, values are the same",
               dump + "\nand then\n" + *dump_again + "\nof\n" + *written);
  }
  const auto written_again = write(**again);
  fuzz_check(written_again.ok() && *written_again == *written,
             "written again, the text is the same", *written);
  const auto problems =
      iceberg::check_metadata(ByteBuffer(std::string_view(*written)), kLimitsOfWritten);
  fuzz_check(problems.ok() && problems->empty(), "there is no problem with what is written",
             *written);
}

/// `error`: of the reading that failed, if it did.
void check_verdict(std::string_view bytes, std::string_view text, const Error* error) {
  const auto problems = iceberg::check_metadata(ByteBuffer(bytes), kLimits);
  fuzz_check(problems.ok(), "a check ends with problems or without");
  for (const auto& problem : *problems) {
    fuzz_check(!problem.what.empty(), "a problem says something");
  }
  if (judge_json(text) == JsonJudgement::kInvalid) {
    fuzz_check(!problems->empty(), "the check finds broken JSON");
    return;
  }
  // The metadata in a response to a client is found by the check alone.
  if (is_load_table_response(text)) return;
  if (error == nullptr) {
    fuzz_check(problems->empty(), "the check finds nothing where reading succeeds",
               problems->empty() ? "" : (*problems)[0].path + ": " + (*problems)[0].what);
    return;
  }
  fuzz_check(!problems->empty(), "the check finds something where reading fails", error->message());
  // A token that is none, which the other parser lets pass, is met in another order.
  const auto is_same = [&](const iceberg::MetadataProblem& problem) {
    if (problem.what.starts_with("not valid JSON")) return true;
    return error->message() == (problem.path.empty() ? "" : problem.path + ": ") + problem.what;
  };
  fuzz_check(std::any_of(problems->begin(), problems->end(), is_same),
             "what reading failed for is among the problems",
             error->message() + " / " + (*problems)[0].path + ": " + (*problems)[0].what);
}

}  // namespace

void check_document_rules(std::span<const std::uint8_t> file, ReadAs read_as) {
  if (file.size() > kLimits.document_bytes_max) return;
  const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
  const auto text_of_file =
      iceberg::MetadataText::of(std::as_bytes(file), kLimits.inflated_bytes_max);
  const std::string_view text = text_of_file ? text_of_file->view() : std::string_view{};
  const auto document = parse(bytes, read_as, kLimits);
  if (!document) {
    check_error(document.error());
    if (read_as == ReadAs::kEither) check_verdict(bytes, text, &document.error());
    return;
  }
  const auto dump = dump_all(*document);
  if (!dump) {
    if (read_as == ReadAs::kEither) check_verdict(bytes, text, &dump.error());
    return;
  }
  const auto judgement = judge_json(text);
  fuzz_check(judgement != JsonJudgement::kInvalid, "what is accepted is JSON");
  if (read_as == ReadAs::kEither) check_verdict(bytes, text, nullptr);
  if ((*document)->kind() == MetadataDocument::Kind::kView) {
    check_lookups(static_cast<const ViewMetadata&>(**document));
  } else {
    check_lookups(static_cast<const TableMetadata&>(**document));
  }
  check_rewriting(**document, *dump);
}

}  // namespace iceblink::test
