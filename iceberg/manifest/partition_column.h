// One field of a partition tuple: what its Avro values are, given the type that the spec and the
// table's schemas make of them (Iceberg table specification, appendix A, "Avro").
//
// Thread safety: immutable values.
#pragma once

#include <iceblink/metadata/literal.h>
#include <iceblink/metadata/schema.h>
#include <iceblink/result.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "iceberg/arena.h"
#include "iceberg/avro/avro_schema.h"
#include "iceberg/avro/container_reader.h"

namespace iceblink::iceberg {

class PartitionColumn {
 public:
  /// `avro` is without null. Without `type` the Avro type alone counts. kCorrupt: the two cannot
  /// be reconciled; says "is …, and has to be …".
  [[nodiscard]] static Result<PartitionColumn> make(const avro::Schema& avro,
                                                    const std::optional<Type>& type);
  /// One that is always null.
  [[nodiscard]] static PartitionColumn null(TypeKind kind) noexcept;

  [[nodiscard]] TypeKind kind() const noexcept { return kind_; }

  /// Bytes are copied to the arena. kCorrupt: no value of the type.
  [[nodiscard]] Result<Literal> read(const avro::Value& value, Arena& arena) const;

 private:
  enum class Form : std::uint8_t { kNull, kInteger, kNumber, kDecimal, kBytes, kText, kUuidText };

  PartitionColumn(Form form, TypeKind kind) noexcept : form_(form), kind_(kind) {}
  [[nodiscard]] static std::optional<PartitionColumn> of_avro(const avro::Schema& avro) noexcept;
  [[nodiscard]] static std::optional<PartitionColumn> of_type(const avro::Schema& avro,
                                                              const Type& type) noexcept;
  [[nodiscard]] static std::optional<PartitionColumn> of_timestamp(const avro::Schema& avro,
                                                                   TypeKind kind) noexcept;
  [[nodiscard]] static std::optional<PartitionColumn> of_decimal(const avro::Schema& avro,
                                                                 std::int32_t scale) noexcept;
  [[nodiscard]] Result<Literal> read_integer(std::int64_t value) const;

  Form form_;
  TypeKind kind_;
  std::uint8_t scale_ = 0;   // decimal
  std::int64_t factor_ = 1;  // integers: of the unit that they are stored in
};

/// Big-endian two's complement, 1 to 16 bytes. Nothing: another length.
[[nodiscard]] std::optional<Int128> parse_decimal(std::string_view bytes) noexcept;

}  // namespace iceblink::iceberg
