// What a column of some type is compared with.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/metadata/literal.h>
#include <iceblink/metadata/predicate.h>
#include <iceblink/metadata/schema.h>
#include <iceblink/result.h>

#include <cstdint>
#include <string>

namespace iceblink::iceberg {

/// Where a value stands among those that its column can have.
enum class ValuePlace : std::uint8_t {
  kWithin,
  kBelowAll,  ///< every value of the column is greater
  kAboveAll,  ///< every one is less
  kNan,       ///< engines do not agree on what is greater or equal
};

struct ComparedValue {
  ValuePlace place = ValuePlace::kWithin;
  /// Within: the value, twice. A number that a float column cannot have: what is next to it on both
  /// sides, since some engines round before they compare. Bytes are those of `storage`.
  Literal low;
  Literal high;
};

/// kInvalidArgument: "a long cannot be compared with text 'x'; it takes an integer". Throws
/// std::bad_alloc.
[[nodiscard]] Result<ComparedValue> compared_value(const Type& type, const PredicateValue& value,
                                                   std::string& storage);

}  // namespace iceblink::iceberg
