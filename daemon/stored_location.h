// Which metadata locations may be stored.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/result.h>

#include <string_view>

namespace iceblink::daemon {

/// kInvalidArgument, naming the table: empty, longer than the segment holds, not UTF-8, or with a
/// control character. Whether there is such a file is another question.
[[nodiscard]] Status validate_location(const TableIdent& ident, std::string_view location);

}  // namespace iceblink::daemon
