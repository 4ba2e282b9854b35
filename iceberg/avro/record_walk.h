// Passes over the bytes of a record, before avro-c reads them, and says whether they are one: every
// length, count, branch and number. What is well-formed cannot lead avro-c to take memory that a
// length merely claims, nor to go on without end.
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/avro/avro_schema.h"
#include "iceberg/avro/byte_cursor.h"

namespace iceblink::iceberg::avro {

/// What a record takes when it is decoded.
struct RecordShape {
  std::vector<std::size_t> counts;       // of each array's and map's elements, as they come
  std::vector<std::string_view> fields;  // the bytes of each field; of what is no record: one
  std::size_t value_count = 0;           // in records, arrays and maps
  std::size_t text_bytes = 0;            // of strings, bytes and fixed
};

/// What is wrong; constant text.
struct WalkFault {
  ErrorKind kind = ErrorKind::kCorrupt;
  const char* what = nullptr;  // null: nothing
  std::size_t offset = 0;
  std::size_t field = 0;  // of the root's
};

class RecordWalk {
 public:
  /// The root outlives it.
  RecordWalk(const Schema& root, std::size_t elements_max) noexcept;

  /// The next records are in these bytes.
  void begin_block(std::string_view data) noexcept;
  /// Passes over one, and leaves what it takes in shape(), counting only fields that are wanted
  /// (empty: all are). False: fault() says why. Throws std::bad_alloc.
  [[nodiscard]] bool pass(const std::vector<bool>& wanted);

  [[nodiscard]] const RecordShape& shape() const noexcept { return shape_; }
  [[nodiscard]] const WalkFault& fault() const noexcept { return fault_; }
  [[nodiscard]] const ByteCursor& cursor() const noexcept { return cursor_; }
  /// Held for the shape.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept {
    return shape_.counts.capacity() * sizeof(std::size_t) +
           shape_.fields.capacity() * sizeof(std::string_view);
  }

 private:
  [[nodiscard]] bool pass_field(const Schema& schema);
  [[nodiscard]] bool pass_value(const Schema& schema);
  [[nodiscard]] bool pass_elements(const Schema& schema);
  [[nodiscard]] bool pass_part(const Schema& schema, std::size_t count);
  [[nodiscard]] bool pass_key();
  [[nodiscard]] bool pass_text(std::string_view& text);
  [[nodiscard]] bool pass_boolean();
  [[nodiscard]] bool pass_integer(std::int64_t min, std::int64_t max, const char* what);
  [[nodiscard]] bool read_long(std::int64_t& value);
  [[nodiscard]] bool skip(std::size_t count);
  [[nodiscard]] bool fail(const char* what, ErrorKind kind = ErrorKind::kCorrupt) noexcept {
    return fail_at(cursor_.offset(), what, kind);
  }
  [[nodiscard]] bool fail_at(std::size_t offset, const char* what,
                             ErrorKind kind = ErrorKind::kCorrupt) noexcept;

  const Schema& root_;
  const std::size_t elements_max_;
  std::string_view data_;
  ByteCursor cursor_;
  std::size_t values_left_;
  RecordShape shape_;
  WalkFault fault_;
};

}  // namespace iceblink::iceberg::avro
