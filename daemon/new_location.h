// Where a new table or view goes that names no location itself.
#pragma once

#include <iceblink/identifier.h>

#include <string>
#include <string_view>

#include "iceberg/uuid.h"

namespace iceblink::daemon {

/// <warehouse>/<levels>/<name>-<uuid>, in letters that mean the same in a path and in a URI: every
/// other byte is '_'. The uuid keeps a name that is used again away from the files of its first
/// bearer. Empty where `warehouse` is.
[[nodiscard]] std::string new_location(std::string_view warehouse, const TableIdent& ident,
                                       const iceberg::Uuid& uuid);

}  // namespace iceblink::daemon
