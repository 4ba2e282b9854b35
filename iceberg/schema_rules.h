// What the specification demands of a schema beside its syntax ("Schemas and Data Types",
// "Identifier Field IDs"), for who reads schemas and who is asked to add them.
//
// Thread safety: pure functions. Throw std::bad_alloc.
#pragma once

#include <iceblink/metadata/schema.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace iceblink::iceberg {

/// The position of a field that has the name of another one of them; else how many there are.
[[nodiscard]] std::size_t find_repeated_name(std::span<const Field> fields);

/// An id that is there twice.
[[nodiscard]] std::optional<std::int32_t> find_repeated_id(std::vector<std::int32_t> ids);

/// An identifier field that cannot be one, and why ("is optional"; static storage).
struct IdentifierFault {
  std::int32_t id = 0;
  std::string_view fault;
};

/// In the order of the schema's identifier-field-ids. O(fields log fields).
[[nodiscard]] std::vector<IdentifierFault> find_identifier_faults(const Schema& schema);

/// Why the JSON text of a default is none of a type's; empty: it may be one.
[[nodiscard]] std::string find_default_fault(const Type& type, std::string_view json);

}  // namespace iceblink::iceberg
