#include "iceberg/manifest/partition_column.h"

#include <limits>
#include <string>

#include "iceberg/manifest/record_fields.h"
#include "iceberg/utf8.h"
#include "iceberg/uuid.h"

namespace iceblink::iceberg {
namespace {

using avro::Kind;

constexpr std::int64_t kMicrosPerMilli = 1000;
constexpr std::int64_t kNanosPerMicro = 1000;
constexpr std::int64_t kMicrosPerDay = 86'400'000'000;
constexpr std::size_t kDecimalBytesMax = 16;
constexpr std::size_t kUuidBytes = 16;

bool is_nanoseconds(TypeKind kind) noexcept {
  return kind == TypeKind::kTimestampNs || kind == TypeKind::kTimestampTzNs;
}

/// How many of `kind` one of the Avro type is; 0: it is something else. `kind` is a timestamp.
std::int64_t units_of(const avro::Schema& avro, TypeKind kind) noexcept {
  const std::string_view logical = avro.logical_type;
  const bool is_ns = is_nanoseconds(kind);
  const std::int64_t per_micro = is_ns ? kNanosPerMicro : 1;
  // Of a column that was one of dates.
  if (avro.kind == Kind::kInt) {
    return logical == "date" || logical.empty() ? kMicrosPerDay * per_micro : 0;
  }
  if (avro.kind != Kind::kLong) return 0;
  if (logical == "timestamp-micros" || logical == "local-timestamp-micros") return per_micro;
  if (logical == "timestamp-millis" || logical == "local-timestamp-millis") {
    return kMicrosPerMilli * per_micro;
  }
  if (logical == "timestamp-nanos" || logical == "local-timestamp-nanos") return is_ns ? 1 : 0;
  return logical == "time-micros" ? 0 : 1;
}

/// The timestamp that the logical type of a long says it is.
std::optional<TypeKind> timestamp_kind(const avro::Schema& avro) noexcept {
  const std::string_view logical = avro.logical_type;
  if (logical == "timestamp-micros" || logical == "timestamp-millis") {
    return avro.adjust_to_utc ? TypeKind::kTimestampTz : TypeKind::kTimestamp;
  }
  if (logical == "timestamp-nanos") {
    return avro.adjust_to_utc ? TypeKind::kTimestampTzNs : TypeKind::kTimestampNs;
  }
  if (logical == "local-timestamp-micros" || logical == "local-timestamp-millis") {
    return TypeKind::kTimestamp;
  }
  if (logical == "local-timestamp-nanos") return TypeKind::kTimestampNs;
  return std::nullopt;
}

bool is_plain_long(const avro::Schema& avro) noexcept {
  return avro.kind == Kind::kLong && !timestamp_kind(avro) && avro.logical_type != "time-micros";
}

constexpr std::string_view kTypeNames[] = {
    "a boolean",      "an int",           "a long",    "a float",     "a double",
    "a decimal",      "a date",           "a time",    "a timestamp", "a timestamptz",
    "a timestamp_ns", "a timestamptz_ns", "a string",  "a uuid",      "a fixed",
    "binary",         "unknown",          "a variant", "a geometry",  "a geography",
    "a struct",       "a list",           "a map"};

}  // namespace

Result<PartitionColumn> PartitionColumn::make(const avro::Schema& avro,
                                              const std::optional<Type>& type) {
  auto column = type ? of_type(avro, *type) : of_avro(avro);
  if (column) return *column;
  std::string what = "is " + std::string(with_article(avro.kind));
  if (!avro.logical_type.empty()) what += " (" + avro.logical_type + ")";
  if (avro.kind == Kind::kFixed) what += " of " + std::to_string(avro.fixed_bytes) + " bytes";
  what += ", and has to be ";
  what += type ? kTypeNames[static_cast<std::size_t>(type->kind)] : "a primitive";
  if (type && type->kind == TypeKind::kDecimal) {
    what += " of scale " + std::to_string(type->scale);
  }
  if (type && type->kind == TypeKind::kFixed) {
    what += " of " + std::to_string(type->fixed_bytes) + " bytes";
  }
  return {ErrorKind::kCorrupt, std::move(what)};
}

PartitionColumn PartitionColumn::null(TypeKind kind) noexcept {
  return {Form::kNull, kind};
}

std::optional<PartitionColumn> PartitionColumn::of_avro(const avro::Schema& avro) noexcept {
  switch (avro.kind) {
    case Kind::kBoolean:
      return PartitionColumn(Form::kInteger, TypeKind::kBoolean);
    case Kind::kInt:
      return PartitionColumn(Form::kInteger,
                             avro.logical_type == "date" ? TypeKind::kDate : TypeKind::kInt);
    case Kind::kLong:
      if (const auto kind = timestamp_kind(avro)) return of_timestamp(avro, *kind);
      return PartitionColumn(
          Form::kInteger, avro.logical_type == "time-micros" ? TypeKind::kTime : TypeKind::kLong);
    case Kind::kFloat:
      return PartitionColumn(Form::kNumber, TypeKind::kFloat);
    case Kind::kDouble:
      return PartitionColumn(Form::kNumber, TypeKind::kDouble);
    case Kind::kString:
      return PartitionColumn(Form::kText, TypeKind::kString);
    case Kind::kBytes:
      if (avro.logical_type == "decimal") return of_decimal(avro, avro.scale);
      return PartitionColumn(Form::kBytes, TypeKind::kBinary);
    case Kind::kFixed:
      if (avro.logical_type == "decimal") return of_decimal(avro, avro.scale);
      if (avro.logical_type == "uuid" && avro.fixed_bytes == kUuidBytes) {
        return PartitionColumn(Form::kBytes, TypeKind::kUuid);
      }
      return PartitionColumn(Form::kBytes, TypeKind::kFixed);
    default:
      return std::nullopt;
  }
}

std::optional<PartitionColumn> PartitionColumn::of_type(const avro::Schema& avro,
                                                        const Type& type) noexcept {
  const auto when = [&](bool fits, Form form) {
    return fits ? std::optional(PartitionColumn(form, type.kind)) : std::nullopt;
  };
  switch (type.kind) {
    case TypeKind::kBoolean:
      return when(avro.kind == Kind::kBoolean, Form::kInteger);
    case TypeKind::kInt:
    case TypeKind::kDate:
      return when(avro.kind == Kind::kInt || is_plain_long(avro), Form::kInteger);
    case TypeKind::kLong:
      return when((avro.kind == Kind::kInt && avro.logical_type != "date") || is_plain_long(avro),
                  Form::kInteger);
    case TypeKind::kFloat:
      return when(avro.kind == Kind::kFloat, Form::kNumber);
    case TypeKind::kDouble:
      return when(avro.kind == Kind::kFloat || avro.kind == Kind::kDouble, Form::kNumber);
    case TypeKind::kDecimal:
      return of_decimal(avro, type.scale);
    case TypeKind::kTime:
      return when(avro.kind == Kind::kLong && !timestamp_kind(avro), Form::kInteger);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      return of_timestamp(avro, type.kind);
    case TypeKind::kString:
      return when(avro.kind == Kind::kString, Form::kText);
    case TypeKind::kUuid:
      if (avro.kind == Kind::kString) return PartitionColumn(Form::kUuidText, type.kind);
      return when(avro.kind == Kind::kFixed && avro.fixed_bytes == kUuidBytes, Form::kBytes);
    case TypeKind::kFixed:
      return when(avro.kind == Kind::kFixed && avro.fixed_bytes == type.fixed_bytes, Form::kBytes);
    case TypeKind::kBinary:
      return when(avro.kind == Kind::kBytes || avro.kind == Kind::kFixed, Form::kBytes);
    default:
      return of_avro(avro);  // unknown, geometry, …: what no spec partitions by
  }
}

std::optional<PartitionColumn> PartitionColumn::of_timestamp(const avro::Schema& avro,
                                                             TypeKind kind) noexcept {
  const std::int64_t factor = units_of(avro, kind);
  if (factor == 0) return std::nullopt;
  PartitionColumn column(Form::kInteger, kind);
  column.factor_ = factor;
  return column;
}

std::optional<PartitionColumn> PartitionColumn::of_decimal(const avro::Schema& avro,
                                                           std::int32_t scale) noexcept {
  if (avro.kind != Kind::kFixed && avro.kind != Kind::kBytes) return std::nullopt;
  if (avro.kind == Kind::kFixed && (avro.fixed_bytes == 0 || avro.fixed_bytes > kDecimalBytesMax)) {
    return std::nullopt;
  }
  if (avro.logical_type == "decimal" && avro.scale != scale) return std::nullopt;
  if (scale < 0 || scale > std::numeric_limits<std::uint8_t>::max()) return std::nullopt;
  PartitionColumn column(Form::kDecimal, TypeKind::kDecimal);
  column.scale_ = static_cast<std::uint8_t>(scale);
  return column;
}

Result<Literal> PartitionColumn::read(const avro::Value& value, Arena& arena) const {
  if (value.is_null() || form_ == Form::kNull) return Literal::null(kind_);
  switch (form_) {
    case Form::kNull:
      break;
    case Form::kInteger:
      return read_integer(value.integer);
    case Form::kNumber:
      return Literal::of_number(kind_, value.number);
    case Form::kDecimal:
      if (const auto unscaled = parse_decimal(value.bytes)) {
        return Literal::of_decimal(*unscaled, scale_);
      }
      return {ErrorKind::kCorrupt, "a decimal of " + std::to_string(value.bytes.size()) + " bytes"};
    case Form::kText:
      if (!is_utf8(value.bytes)) return {ErrorKind::kCorrupt, "is not UTF-8"};
      return Literal::of_bytes(kind_, arena.copy(value.bytes));
    case Form::kUuidText:
      if (const auto uuid = parse_uuid(value.bytes)) {
        const std::string_view bytes(reinterpret_cast<const char*>(uuid->data()), uuid->size());
        return Literal::of_bytes(kind_, arena.copy(bytes));
      }
      return {ErrorKind::kCorrupt, "is no UUID"};
    case Form::kBytes:
      return Literal::of_bytes(kind_, arena.copy(value.bytes));
  }
  return Literal::null(kind_);
}

Result<Literal> PartitionColumn::read_integer(std::int64_t value) const {
  const bool is_32_bits = kind_ == TypeKind::kInt || kind_ == TypeKind::kDate;
  std::int64_t scaled = 0;
  const bool overflows = __builtin_mul_overflow(value, factor_, &scaled);
  if (overflows || (is_32_bits && scaled != static_cast<std::int32_t>(scaled))) {
    return {ErrorKind::kCorrupt, std::to_string(value) + " is out of range"};
  }
  return Literal::of_integer(kind_, scaled);
}

std::optional<Int128> parse_decimal(std::string_view bytes) noexcept {
  if (bytes.empty() || bytes.size() > kDecimalBytesMax) return std::nullopt;
  const bool is_negative = (static_cast<unsigned char>(bytes[0]) & 0x80) != 0;
  std::uint64_t high = is_negative ? ~std::uint64_t{0} : 0;
  std::uint64_t low = high;
  for (const char byte : bytes) {
    high = (high << 8) | (low >> 56);
    low = (low << 8) | static_cast<unsigned char>(byte);
  }
  return Int128{static_cast<std::int64_t>(high), low};
}

}  // namespace iceblink::iceberg
