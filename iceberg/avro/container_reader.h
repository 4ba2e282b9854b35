// Avro object container files (Avro specification 1.11, "Object Container Files"): header, writer
// schema and blocks by our own code, records by avro-c.
//
// Bytes are input: whatever they say, reading ends, and takes memory in proportion to what is
// there.
//
// Thread safety: a reader belongs to one thread.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/avro/avro_schema.h"

namespace iceblink::iceberg::avro {

/// A value as it was decoded. A union is what its branch is. Plain; borrows.
struct Value {
  Kind kind = Kind::kNull;
  union {
    std::int64_t integer;             // boolean (0, 1), int, long; enum: the symbol's index
    double number;                    // float, double
    std::string_view bytes;           // bytes, string (which may be no UTF-8), fixed
    std::span<const Value> children;  // record: its fields; array: its elements; map: key, value, …
  };

  Value() noexcept : integer(0) {}
  [[nodiscard]] bool is_null() const noexcept { return kind == Kind::kNull; }
};

struct ReaderLimits {
  /// Of all blocks together, and of any one record's values.
  std::size_t inflated_bytes_max = std::size_t{512} << 20;
  std::size_t elements_max = std::size_t{16} << 20;  // of any one array or map
};

class ContainerReader {
 public:
  /// Reads the header. `file` outlives the reader. kCorrupt: no such file, with what is wrong and
  /// where; kUnsupported: an encrypted file; a codec other than null and deflate, by its name;
  /// kTooLarge; kOutOfMemory.
  [[nodiscard]] static Result<std::unique_ptr<ContainerReader>> open(
      std::string_view file, const ReaderLimits& limits = {}) noexcept;
  virtual ~ContainerReader() = default;

  [[nodiscard]] virtual const Schema& schema() const noexcept = 0;
  /// Of the header's map: "format-version", "partition-spec-id", …
  [[nodiscard]] virtual std::optional<std::string_view> metadata(std::string_view key) const = 0;

  /// The next record; null at the end of the file. Valid until the next call. `wanted` fields of
  /// the root record alone are decoded when that was set; others are kNull. Errors as open(), and
  /// for good: the same again.
  [[nodiscard]] virtual Result<const Value*> next() noexcept = 0;

  /// Memory held now, in bytes: the block, and the record decoded last.
  [[nodiscard]] virtual std::size_t scratch_bytes() const noexcept = 0;

  /// Root fields (by position) that are decoded; without this, all. Before the first next().
  virtual void project(const std::vector<bool>& wanted) = 0;
};

}  // namespace iceblink::iceberg::avro
