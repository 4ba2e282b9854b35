#include "iceberg/metadata_parser.h"

#include <new>
#include <set>
#include <utility>

#include "iceberg/arena.h"
#include "iceberg/json_parsing.h"
#include "iceberg/json_reader.h"
#include "iceberg/lazy_table_parts.h"
#include "iceberg/metadata_text.h"
#include "iceberg/table_reader.h"
#include "iceberg/view_reader.h"

namespace iceblink::iceberg {
namespace {

using Wanted = JsonReader::Wanted;

/// What is wrong with a file is damage to who reads it.
Error as_damage(const Error& error) {
  if (error.kind() != ErrorKind::kInvalidArgument) return error;
  return {ErrorKind::kCorrupt, error.message()};
}

/// A document on its way: its memory, and a reader at its begin.
struct Parsing {
  explicit Parsing(const MetadataLimits& limits, Wanted wanted)
      : arena(std::make_unique<Arena>()), json(*arena, limits, wanted) {}

  /// The errors of MetadataText and of JsonTokens.
  static Result<std::unique_ptr<Parsing>> begin(ByteBuffer file, const MetadataLimits& limits,
                                                Wanted wanted,
                                                const TextBytesWanted& text_bytes = {}) {
    if (file.size() > limits.document_bytes_max) {
      return {ErrorKind::kTooLarge, "the file has " + std::to_string(file.size()) +
                                        " bytes, more than " +
                                        std::to_string(limits.document_bytes_max)};
    }
    auto text = take_metadata_text(std::move(file), limits.inflated_bytes_max, text_bytes);
    if (!text) return as_damage(text.error());
    auto parsing = std::make_unique<Parsing>(limits, wanted);
    const std::string_view whole = parsing->arena->adopt(std::move(text->bytes));
    ICEBLINK_RETURN_IF_ERROR(parsing->json.begin(whole.substr(text->bom_bytes)));
    return parsing;
  }

  std::unique_ptr<Arena> arena;
  JsonParsing json;
};

/// What a document is, by its members.
struct Shape {
  bool is_view = false;
  bool is_response = false;
};

Shape shape_of(Parsing& parsing) {
  JsonReader& reader = parsing.json.reader();
  const auto begin = reader.place();
  bool has_version = false;
  bool has_table_uuid = false;
  bool has_view_uuid = false;
  bool has_versions = false;
  bool has_metadata = false;
  if (reader.peek() == '{') {
    reader.read_object([&](std::string_view key) {
      has_version = has_version || key == "format-version";
      has_table_uuid = has_table_uuid || key == "table-uuid";
      has_view_uuid = has_view_uuid || key == "view-uuid";
      has_versions = has_versions || (key == "versions" && reader.peek() == '[');
      has_metadata = has_metadata || (key == "metadata" && reader.peek() == '{');
      reader.skip_raw();
    });
    reader.expect_end();
  }
  if (reader.goes_on()) reader.go_to(begin);
  return {.is_view = has_view_uuid && (has_versions || !has_table_uuid),
          .is_response = has_metadata && !has_version};
}

Result<std::shared_ptr<TableMetadata>> build_table(Parsing& parsing) {
  TableReader table(parsing.json.reader(), parsing.json.text());
  table.read(nullptr);
  parsing.json.reader().expect_end();
  if (!parsing.json.problems().empty()) return parsing.json.error();
  auto parts = std::make_unique<LazyTableParts>(table.raw_parts());
  return std::make_shared<TableMetadata>(std::move(parsing.arena), table.values(),
                                         std::move(parts));
}

Result<std::shared_ptr<ViewMetadata>> build_view(Parsing& parsing) {
  const ViewValues values = read_view(parsing.json.reader());
  parsing.json.reader().expect_end();
  if (!parsing.json.problems().empty()) return parsing.json.error();
  return std::make_shared<ViewMetadata>(std::move(parsing.arena), values);
}

/// The body of a load-table response (Iceberg REST specification, LoadTableResult): the metadata in
/// it. The rest is between the server and its clients.
void check_response(Parsing& parsing) {
  JsonReader& reader = parsing.json.reader();
  JsonReader::Step step;
  step.key = "metadata";
  JsonReader::Place metadata = nullptr;
  reader.read_object([&](std::string_view key) {
    if (key != "metadata") return reader.skip();
    if (metadata != nullptr) reader.report("occurs twice");
    metadata = reader.place();
    reader.skip_raw();
  });
  reader.expect_end();
  if (!reader.goes_on()) return;
  reader.go_to(metadata);
  TableReader table(reader, parsing.json.text());
  table.read(&step);
  if (reader.goes_on()) table.check_raw_parts();
}

void check_document(Parsing& parsing) {
  JsonReader& reader = parsing.json.reader();
  const Shape shape = shape_of(parsing);
  if (!reader.goes_on()) return;
  if (shape.is_response) return check_response(parsing);
  if (shape.is_view) {
    (void)read_view(reader);
  } else {
    TableReader table(reader, parsing.json.text());
    table.read(nullptr);
    if (reader.goes_on()) table.check_raw_parts();
  }
  reader.expect_end();
}

/// What is scanned first and read later is found to be wrong twice.
std::vector<MetadataProblem> without_repetitions(const std::vector<MetadataProblem>& problems) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  std::vector<MetadataProblem> distinct;
  for (const auto& problem : problems) {
    if (seen.emplace(problem.path, problem.what).second) distinct.push_back(problem);
  }
  return distinct;
}

template <typename T>
Result<T> out_of_memory() noexcept {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

}  // namespace

Result<std::shared_ptr<TableMetadata>> parse_table_metadata(ByteBuffer file,
                                                            const MetadataLimits& limits,
                                                            const TextBytesWanted& wanted) noexcept
    try {
  ICEBLINK_ASSIGN_OR_RETURN(const auto parsing,
                            Parsing::begin(std::move(file), limits, Wanted::kFirstProblem, wanted));
  return build_table(*parsing);
} catch (const std::bad_alloc&) {
  return out_of_memory<std::shared_ptr<TableMetadata>>();
}

Result<std::shared_ptr<ViewMetadata>> parse_view_metadata(ByteBuffer file,
                                                          const MetadataLimits& limits,
                                                          const TextBytesWanted& wanted) noexcept
    try {
  ICEBLINK_ASSIGN_OR_RETURN(const auto parsing,
                            Parsing::begin(std::move(file), limits, Wanted::kFirstProblem, wanted));
  return build_view(*parsing);
} catch (const std::bad_alloc&) {
  return out_of_memory<std::shared_ptr<ViewMetadata>>();
}

Result<std::shared_ptr<MetadataDocument>> parse_metadata(ByteBuffer file,
                                                         const MetadataLimits& limits) noexcept
    try {
  ICEBLINK_ASSIGN_OR_RETURN(const auto parsing,
                            Parsing::begin(std::move(file), limits, Wanted::kFirstProblem));
  const Shape shape = shape_of(*parsing);
  if (!parsing->json.problems().empty()) return parsing->json.error();
  if (shape.is_view) {
    ICEBLINK_ASSIGN_OR_RETURN(auto view, build_view(*parsing));
    return std::shared_ptr<MetadataDocument>(std::move(view));
  }
  ICEBLINK_ASSIGN_OR_RETURN(auto table, build_table(*parsing));
  return std::shared_ptr<MetadataDocument>(std::move(table));
} catch (const std::bad_alloc&) {
  return out_of_memory<std::shared_ptr<MetadataDocument>>();
}

Result<std::vector<MetadataProblem>> check_metadata(ByteBuffer file,
                                                    const MetadataLimits& limits) noexcept try {
  const auto parsing = Parsing::begin(std::move(file), limits, Wanted::kAllProblems);
  if (!parsing) {
    if (parsing.error().kind() == ErrorKind::kOutOfMemory) return parsing.error();
    return std::vector<MetadataProblem>{{"", parsing.error().message()}};
  }
  check_document(**parsing);
  return without_repetitions((*parsing)->json.problems());
} catch (const std::bad_alloc&) {
  return out_of_memory<std::vector<MetadataProblem>>();
}

}  // namespace iceblink::iceberg
