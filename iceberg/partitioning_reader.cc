#include "iceberg/partitioning_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "iceberg/ascii.h"
#include "iceberg/member_set.h"
#include "iceberg/schema_reader.h"

namespace iceblink::iceberg {
namespace {

/// The number of "name[number]".
std::optional<std::uint32_t> parameter_of(std::string_view text, std::string_view name) noexcept {
  if (text.size() < name.size() + 3 || !equals_ignoring_case(text.substr(0, name.size()), name) ||
      text[name.size()] != '[' || text.back() != ']') {
    return std::nullopt;
  }
  const char* const end = text.data() + text.size() - 1;
  std::uint32_t value = 0;
  const auto [stop, error] = std::from_chars(text.data() + name.size() + 1, end, value);
  if (error != std::errc{} || stop != end || value == 0) return std::nullopt;
  return value;
}

/// "source-id", or for several arguments "source-ids".
class SourceIds {
 public:
  explicit SourceIds(JsonReader& reader) : reader_(reader) {}

  /// True where `key` was one of them, and its value has been read.
  [[nodiscard]] bool take(std::string_view key) {
    if (is(key, "source-id")) {
      if (members_.add(reader_, Member::kOne)) one_ = reader_.read_int32();
      return true;
    }
    if (!is(key, "source-ids")) return false;
    if (members_.add(reader_, Member::kSeveral)) several_ = read_ids(reader_);
    return true;
  }
  [[nodiscard]] std::span<const std::int32_t> take_all() const {
    if (!several_.empty()) return several_;
    if (one_) return reader_.arena().copy(std::span<const std::int32_t>(&*one_, 1));
    if (reader_.has_read_object()) reader_.report("is missing", "source-id");
    return {};
  }

 private:
  enum class Member { kOne, kSeveral };

  JsonReader& reader_;
  MemberSet<Member> members_;
  std::optional<std::int32_t> one_;
  std::span<const std::int32_t> several_;
};

SortField read_sort_field(JsonReader& reader) {
  enum class Member { kTransform, kDirection, kNullOrder };
  SortField field;
  MemberSet<Member> members;
  SourceIds sources(reader);
  const auto read_choice = [&](std::string_view first, std::string_view second) {
    const auto text = reader.read_string();
    if (!reader.goes_on() || equals_ignoring_case(text, first)) return false;
    if (equals_ignoring_case(text, second)) return true;
    reader.report("'" + std::string(text) + "' is neither " + std::string(first) + " nor " +
                  std::string(second));
    return false;
  };
  reader.read_object([&](std::string_view key) {
    if (is(key, "transform")) {
      if (!members.add(reader, Member::kTransform)) return;
      field.transform = parse_transform(reader.read_string());
    } else if (is(key, "direction")) {
      if (!members.add(reader, Member::kDirection)) return;
      field.direction =
          read_choice("asc", "desc") ? SortDirection::kDescending : SortDirection::kAscending;
    } else if (is(key, "null-order")) {
      if (!members.add(reader, Member::kNullOrder)) return;
      field.null_order =
          read_choice("nulls-first", "nulls-last") ? NullOrder::kNullsLast : NullOrder::kNullsFirst;
    } else if (!sources.take(key)) {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kTransform, "transform"},
                           {Member::kDirection, "direction"},
                           {Member::kNullOrder, "null-order"}});
  field.source_ids = sources.take_all();
  return field;
}

PartitionSpec read_partition_spec(JsonReader& reader) {
  enum class Member { kSpecId, kFields };
  PartitionSpec spec;
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "spec-id")) {
      if (members.add(reader, Member::kSpecId)) spec.spec_id = reader.read_int32();
    } else if (is(key, "fields")) {
      if (members.add(reader, Member::kFields)) spec.fields = read_partition_fields(reader);
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kSpecId, "spec-id"}, {Member::kFields, "fields"}});
  return spec;
}

}  // namespace

Transform parse_transform(std::string_view text) noexcept {
  constexpr std::array<std::pair<std::string_view, TransformKind>, 6> kPlain{{
      {"identity", TransformKind::kIdentity},
      {"year", TransformKind::kYear},
      {"month", TransformKind::kMonth},
      {"day", TransformKind::kDay},
      {"hour", TransformKind::kHour},
      {"void", TransformKind::kVoid},
  }};
  Transform transform;
  transform.text = text;
  for (const auto& [name, kind] : kPlain) {
    if (equals_ignoring_case(text, name)) transform.kind = kind;
  }
  if (const auto buckets = parameter_of(text, "bucket")) {
    transform.kind = TransformKind::kBucket;
    transform.parameter = *buckets;
  } else if (const auto width = parameter_of(text, "truncate")) {
    transform.kind = TransformKind::kTruncate;
    transform.parameter = *width;
  }
  return transform;
}

WrittenPartitionField read_partition_field(JsonReader& reader, NullIds null_ids) {
  enum class Member { kFieldId, kName, kTransform };
  WrittenPartitionField written;
  MemberSet<Member> members;
  SourceIds sources(reader);
  reader.read_object([&](std::string_view key) {
    if (is(key, "field-id")) {
      if (!members.add(reader, Member::kFieldId)) return;
      if (null_ids == NullIds::kAreAbsent && reader.take_null()) return;
      written.field.field_id = reader.read_int32();
      written.has_id = true;
    } else if (is(key, "name")) {
      if (members.add(reader, Member::kName)) written.field.name = reader.read_string();
    } else if (is(key, "transform")) {
      if (!members.add(reader, Member::kTransform)) return;
      written.field.transform = parse_transform(reader.read_string());
    } else if (!sources.take(key)) {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kName, "name"}, {Member::kTransform, "transform"}});
  written.field.source_ids = sources.take_all();
  return written;
}

std::span<const PartitionField> read_partition_fields(JsonReader& reader) {
  std::vector<PartitionField> fields;
  std::size_t id_count = 0;
  reader.read_array([&] {
    const auto written = read_partition_field(reader, NullIds::kAreRefused);
    id_count += written.has_id ? 1 : 0;
    fields.push_back(written.field);
  });
  if (id_count == 0) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      fields[i].field_id = kFirstPartitionFieldId + static_cast<std::int32_t>(i);
    }
  } else if (id_count < fields.size()) {
    reader.report("some of the fields have a field-id, and some have none");
  }
  return reader.arena().copy(fields);
}

std::span<const PartitionSpec> read_partition_specs(JsonReader& reader) {
  std::vector<PartitionSpec> specs;
  reader.read_array([&] { specs.push_back(read_partition_spec(reader)); });
  return reader.arena().copy(specs);
}

SortOrder read_sort_order(JsonReader& reader, OrderId order_id) {
  enum class Member { kOrderId, kFields };
  SortOrder order;
  bool has_id = false;
  MemberSet<Member> members;
  const JsonReader::Watch watch(reader);
  std::vector<SortField> fields;
  reader.read_object([&](std::string_view key) {
    if (is(key, "order-id")) {
      if (!members.add(reader, Member::kOrderId)) return;
      if (order_id == OrderId::kMadeUp && reader.take_null()) return;
      order.order_id = reader.read_int32();
      has_id = true;
    } else if (is(key, "fields")) {
      if (!members.add(reader, Member::kFields)) return;
      reader.read_array([&] { fields.push_back(read_sort_field(reader)); });
    } else {
      reader.skip();
    }
  });
  if (order_id == OrderId::kRequired) members.require(reader, {{Member::kOrderId, "order-id"}});
  members.require(reader, {{Member::kFields, "fields"}});
  order.fields = reader.arena().copy(fields);
  if (order_id == OrderId::kMadeUp && !has_id) order.order_id = order.fields.empty() ? 0 : 1;
  if (watch.all_is_well() && (order.order_id == 0) != order.fields.empty()) {
    reader.report(order.order_id == 0 ? "order 0 is for the unsorted, and has fields"
                                      : "has no fields, which is for order 0 alone",
                  "fields");
  }
  return order;
}

std::span<const SortOrder> read_sort_orders(JsonReader& reader) {
  std::vector<SortOrder> orders;
  reader.read_array([&] { orders.push_back(read_sort_order(reader, OrderId::kRequired)); });
  return reader.arena().copy(orders);
}

}  // namespace iceblink::iceberg
