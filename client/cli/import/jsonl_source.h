// Lines of JSON, as `iceblink export` writes them, or as anybody does:
//
//   {"kind":"namespace","namespace":["a"],"properties":{"k":"v"}}
//   {"kind":"table","namespace":["a"],"name":"t","metadata-location":"/w/t/v1.metadata.json"}
//
// kind: table where it is missing. "unverified":true: registered without a look at its file. Other
// members are passed over, and so are empty lines. A line that cannot be understood is an
// Unreadable that says its number. One line is held in memory, whatever the file's size.
#pragma once

#include <memory>

#include "client/cli/import/source.h"

namespace iceblink::cli {

/// `path`: "-" is standard input. kNotFound, kNotAllowed, kIo; from next() kIo, and
/// kIncompatible: the lines are an export of a format that is not known here.
[[nodiscard]] Result<std::unique_ptr<Source>> open_jsonl(const std::string& path);

}  // namespace iceblink::cli
