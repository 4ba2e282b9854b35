// Which of a Literal's members its kind is held in.
#pragma once

#include <iceblink/metadata/schema.h>

#include <cstdint>

namespace iceblink::iceberg {

enum class LiteralStorage : std::uint8_t { kNone, kInteger, kNumber, kDecimal, kBytes };

[[nodiscard]] constexpr LiteralStorage storage_of(TypeKind kind) noexcept {
  switch (kind) {
    case TypeKind::kBoolean:
    case TypeKind::kInt:
    case TypeKind::kLong:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
      return LiteralStorage::kInteger;
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return LiteralStorage::kNumber;
    case TypeKind::kDecimal:
      return LiteralStorage::kDecimal;
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return LiteralStorage::kBytes;
    default:
      return LiteralStorage::kNone;
  }
}

}  // namespace iceblink::iceberg
