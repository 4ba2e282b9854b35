// What a name in the catalog may stand for.
#pragma once

#include <cstdint>

namespace iceblink {

enum class ObjectKind : std::uint8_t { kTable, kView, kNamespace };

}  // namespace iceblink
