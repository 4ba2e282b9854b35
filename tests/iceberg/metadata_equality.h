// Whether two documents say the same, in all of their values; if not, where they first differ.
#pragma once

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>

#include <string>

namespace iceblink::iceberg::testing {

/// "snapshots[3].summary[0].value: 'a', and 'b'": the first field that differs, and its values.
/// Empty: there is none. Lazy parts are built; one that cannot be is a difference. Defaults may
/// differ in the space between their tokens.
[[nodiscard]] std::string difference(const TableMetadata& a, const TableMetadata& b);
[[nodiscard]] std::string difference(const ViewMetadata& a, const ViewMetadata& b);
/// Of one kind or of two.
[[nodiscard]] std::string difference(const MetadataDocument& a, const MetadataDocument& b);

}  // namespace iceblink::iceberg::testing
