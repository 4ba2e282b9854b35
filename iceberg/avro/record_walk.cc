#include "iceberg/avro/record_walk.h"

#include <limits>

namespace iceblink::iceberg::avro {
namespace {

using Fault = ByteCursor::Fault;

/// Values without bytes (nulls, records of them, arrays of those) are free up to a number; beyond
/// that, bytes pay for them.
constexpr std::size_t kFreeValues = std::size_t{1} << 20;
constexpr std::size_t kValuesPerByteMax = 32;

}  // namespace

RecordWalk::RecordWalk(const Schema& root, std::size_t elements_max) noexcept
    : root_(root), elements_max_(elements_max), values_left_(kFreeValues) {}

void RecordWalk::begin_block(std::string_view data) noexcept {
  data_ = data;
  cursor_ = ByteCursor(data);
  // All blocks together are no more than memory holds, and so is this.
  values_left_ += data.size() * kValuesPerByteMax;
}

bool RecordWalk::fail_at(std::size_t offset, const char* what, ErrorKind kind) noexcept {
  fault_.kind = kind;
  fault_.what = what;
  fault_.offset = offset;
  return false;
}

bool RecordWalk::pass(const std::vector<bool>& wanted) {
  shape_.counts.clear();
  shape_.fields.clear();
  shape_.value_count = 1;
  shape_.text_bytes = 0;
  fault_.field = 0;
  if (root_.kind != Kind::kRecord) return pass_field(root_);
  if (values_left_ == 0) return pass_value(root_);
  --values_left_;
  shape_.value_count += root_.fields.size();
  for (const SchemaField& field : root_.fields) {
    const bool is_wanted = wanted.empty() || wanted[fault_.field];
    const std::size_t count = shape_.counts.size();
    const std::size_t value_count = shape_.value_count;
    const std::size_t text_bytes = shape_.text_bytes;
    if (!pass_field(*field.type)) return false;
    if (!is_wanted) {
      shape_.counts.resize(count);
      shape_.value_count = value_count;
      shape_.text_bytes = text_bytes;
    }
    ++fault_.field;
  }
  return true;
}

bool RecordWalk::pass_field(const Schema& schema) {
  const std::size_t begin = cursor_.offset();
  if (!pass_value(schema)) return false;
  shape_.fields.push_back(data_.substr(begin, cursor_.offset() - begin));
  return true;
}

bool RecordWalk::pass_value(const Schema& schema) {
  constexpr std::int64_t kIntMin = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();
  if (values_left_ == 0) return fail("more values than its bytes pay for", ErrorKind::kTooLarge);
  --values_left_;
  switch (schema.kind) {
    case Kind::kNull:
      return true;
    case Kind::kBoolean:
      return pass_boolean();
    case Kind::kInt:
      return pass_integer(kIntMin, kIntMax, "a number of more than 32 bits");
    case Kind::kLong: {
      std::int64_t value = 0;
      return read_long(value);
    }
    case Kind::kFloat:
      return skip(sizeof(float));
    case Kind::kDouble:
      return skip(sizeof(double));
    case Kind::kBytes:
    case Kind::kString: {
      std::string_view text;
      return pass_text(text);
    }
    case Kind::kFixed:
      if (!skip(schema.fixed_bytes)) return false;
      shape_.text_bytes += schema.fixed_bytes;
      return true;
    case Kind::kEnum:
      return pass_integer(0, static_cast<std::int64_t>(schema.symbols.size()) - 1,
                          "a symbol that the schema does not have");
    case Kind::kRecord:
      shape_.value_count += schema.fields.size();
      for (const SchemaField& field : schema.fields) {
        if (!pass_value(*field.type)) return false;
      }
      return true;
    case Kind::kArray:
    case Kind::kMap:
      return pass_elements(schema);
    case Kind::kUnion: {
      const std::size_t begin = cursor_.offset();
      std::int64_t branch = 0;
      if (!read_long(branch)) return false;
      if (branch < 0 || static_cast<std::uint64_t>(branch) >= schema.children.size()) {
        return fail_at(begin, "a branch that the union does not have");
      }
      return pass_value(*schema.children[static_cast<std::size_t>(branch)]);
    }
  }
  return fail("a type that is unknown");
}

bool RecordWalk::pass_elements(const Schema& schema) {
  const std::size_t count_place = shape_.counts.size();
  shape_.counts.push_back(0);
  std::size_t count_all = 0;
  while (true) {
    const std::size_t begin = cursor_.offset();
    std::int64_t count = 0;
    std::int64_t bytes = -1;
    if (!read_long(count)) return false;
    if (count == 0) break;
    if (count < 0) {
      if (!read_long(bytes)) return false;
      if (count == std::numeric_limits<std::int64_t>::min() || bytes < 0) {
        return fail_at(begin, "a count out of range");
      }
      count = -count;
    }
    if (static_cast<std::uint64_t>(count) > elements_max_ - count_all) {
      return fail_at(begin, "more elements than one array or map may have", ErrorKind::kTooLarge);
    }
    count_all += static_cast<std::size_t>(count);
    const std::size_t part_begin = cursor_.offset();
    if (!pass_part(schema, static_cast<std::size_t>(count))) return false;
    if (bytes >= 0 && cursor_.offset() - part_begin != static_cast<std::uint64_t>(bytes)) {
      return fail_at(begin, "a part of an array or a map is not as long as it says");
    }
  }
  shape_.counts[count_place] = count_all;
  shape_.value_count += schema.kind == Kind::kMap ? 2 * count_all : count_all;
  return true;
}

bool RecordWalk::pass_part(const Schema& schema, std::size_t count) {
  const Schema& element = *schema.children.front();
  for (; count > 0; --count) {
    if (schema.kind == Kind::kMap && !pass_key()) return false;
    if (!pass_value(element)) return false;
  }
  return true;
}

bool RecordWalk::pass_key() {
  const std::size_t begin = cursor_.offset();
  std::string_view key;
  if (!pass_text(key)) return false;
  // avro-c hands keys on without their length.
  return key.find('\0') == std::string_view::npos ||
         fail_at(begin, "a map's key with a NUL in it", ErrorKind::kUnsupported);
}

bool RecordWalk::pass_text(std::string_view& text) {
  const Fault fault = cursor_.read_bytes(text);
  shape_.text_bytes += text.size();
  if (fault == Fault::kNone) return true;
  return fail(fault == Fault::kTooLong ? "a length out of range"
                                       : "a string or bytes that go beyond the block");
}

bool RecordWalk::pass_boolean() {
  const std::size_t begin = cursor_.offset();
  if (cursor_.at_end()) return skip(1);
  return cursor_.take_byte() <= 1 || fail_at(begin, "a boolean that is neither 0 nor 1");
}

bool RecordWalk::pass_integer(std::int64_t min, std::int64_t max, const char* what) {
  const std::size_t begin = cursor_.offset();
  std::int64_t value = 0;
  if (!read_long(value)) return false;
  return (value >= min && value <= max) || fail_at(begin, what);
}

bool RecordWalk::read_long(std::int64_t& value) {
  const Fault fault = cursor_.read_long(value);
  if (fault == Fault::kNone) return true;
  return fail(fault == Fault::kTooLong ? "a number of more than 64 bits"
                                       : "a number that goes beyond the block");
}

bool RecordWalk::skip(std::size_t count) {
  if (cursor_.skip(count) == Fault::kNone) return true;
  return fail("a value that goes beyond the block");
}

}  // namespace iceblink::iceberg::avro
