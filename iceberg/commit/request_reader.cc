#include "iceberg/commit/request_reader.h"

#include <optional>
#include <string>
#include <vector>

#include "iceberg/json_parsing.h"
#include "iceberg/json_surrogates.h"
#include "iceberg/member_set.h"
#include "iceberg/metadata_text.h"
#include "iceberg/partitioning_reader.h"

namespace iceblink::iceberg {
namespace {

/// What is wrong with a request is its client's fault; also that it is beyond a limit of its
/// content: it will be so again, however small its body.
Error as_invalid(const Error& error) {
  if (error.kind() != ErrorKind::kCorrupt && error.kind() != ErrorKind::kTooLarge) return error;
  return {ErrorKind::kInvalidArgument, error.message()};
}

}  // namespace

struct RequestText::Parsing {
  explicit Parsing(Arena& arena) : json(arena, limits, JsonReader::Wanted::kFirstProblem) {}

  const MetadataLimits limits;
  JsonParsing json;
};

RequestText::RequestText(RequestMemory& memory)
    : memory_(memory), parsing_(std::make_unique<Parsing>(memory.arena())) {}
RequestText::~RequestText() = default;

Status RequestText::begin(std::string_view body) {
  body.remove_prefix(bom_bytes_of(body));
  if (body.empty()) return {ErrorKind::kInvalidArgument, "the body is empty"};
  const auto begun = parsing_->json.begin(memory_.arena().adopt(ByteBuffer(body)));
  if (!begun) {
    return begun.error().kind() == ErrorKind::kTooLarge ? begun.error() : as_invalid(begun.error());
  }
  if (const auto at = find_half_surrogate(body)) {
    return {ErrorKind::kInvalidArgument, half_surrogate_message(body, *at)};
  }
  return Ok{};
}

JsonReader& RequestText::reader() noexcept {
  return parsing_->json.reader();
}

Status RequestText::finish() {
  reader().expect_end();
  if (parsing_->json.problems().empty()) return Ok{};
  return as_invalid(parsing_->json.error());
}

std::string_view read_kind(JsonReader& reader, std::string_view name) {
  const JsonReader::Place begin = reader.place();
  const auto kind = read_member(reader, name, [](JsonReader& at) { return at.read_string(); });
  if (reader.goes_on()) reader.go_to(begin);
  return kind;
}

std::span<const std::string_view> read_strings(JsonReader& reader) {
  std::vector<std::string_view> strings;
  reader.read_array([&] { strings.push_back(reader.read_string()); });
  return reader.arena().copy(strings);
}

std::span<const std::int64_t> read_long_ids(JsonReader& reader) {
  std::vector<std::int64_t> ids;
  reader.read_array([&] { ids.push_back(reader.read_int64()); });
  return reader.arena().copy(ids);
}

TableIdent read_identifier(JsonReader& reader) {
  enum class Member { kNamespace, kName };
  TableIdent ident;
  MemberSet<Member> members;
  const JsonReader::Watch watch(reader);
  reader.read_object([&](std::string_view key) {
    if (is(key, "namespace")) {
      if (!members.add(reader, Member::kNamespace)) return;
      reader.read_array([&] { ident.levels.emplace_back(reader.read_string()); });
    } else if (is(key, "name")) {
      if (members.add(reader, Member::kName)) ident.name = reader.read_string();
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kNamespace, "namespace"}, {Member::kName, "name"}});
  if (!watch.all_is_well()) return ident;
  const auto valid = validate(ident);
  if (!valid) reader.report(valid.error().message());
  return ident;
}

std::string_view read_name(JsonReader& reader) {
  const JsonReader::Watch watch(reader);
  const auto name = reader.read_string();
  if (!watch.all_is_well()) return name;
  const auto valid = validate_name(name);
  if (!valid) reader.report(valid.error().message());
  return name;
}

RequestedPartitionSpec read_requested_partition_spec(JsonReader& reader) {
  enum class Member { kSpecId, kFields };
  RequestedPartitionSpec spec;
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "spec-id")) {
      if (members.add(reader, Member::kSpecId) && !reader.take_null()) {
        spec.spec_id = reader.read_int32();
      }
    } else if (is(key, "fields")) {
      if (!members.add(reader, Member::kFields)) return;
      std::vector<RequestedPartitionField> fields;
      reader.read_array([&] {
        const auto [field, has_id] = read_partition_field(reader, NullIds::kAreAbsent);
        fields.push_back({has_id ? std::optional(field.field_id) : std::nullopt, field.name,
                          field.transform, field.source_ids});
      });
      spec.fields = reader.arena().copy(fields);
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kFields, "fields"}});
  return spec;
}

}  // namespace iceblink::iceberg
