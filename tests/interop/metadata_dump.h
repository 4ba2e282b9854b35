// Every value of a metadata document's model, a line each: its path, a tab, and the value as JSON.
// For tests that compare what was read, value by value.
//
// A list's elements are "list[0]", "list[1]" …, a map's values "map{"key"}"; an empty list or map
// is "[]" or "{}". What is absent is null.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/result.h>

#include <string>

namespace iceblink::test {

/// Builds what was lazy; its errors.
[[nodiscard]] Result<std::string> dump_metadata(const MetadataDocument& document);

}  // namespace iceblink::test
