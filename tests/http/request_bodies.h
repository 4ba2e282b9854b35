// Bodies of requests that make tables and views, and change them.
#pragma once

#include <cstdint>
#include <string>

namespace iceblink::test {

/// A table of two columns. `more`: members after the others, each with a comma in front.
[[nodiscard]] std::string table_creation(const std::string& name, const std::string& more = {});
[[nodiscard]] std::string view_creation(const std::string& name, const std::string& more = {});

/// A commit; each argument is what stands between the brackets.
[[nodiscard]] std::string commit(const std::string& updates, const std::string& requirements = {});
[[nodiscard]] std::string set_property(const std::string& key, const std::string& value);
/// A snapshot that becomes `main`. Its files are not there.
[[nodiscard]] std::string append_snapshot(std::int64_t id, std::int64_t sequence_number,
                                          std::int64_t parent_id = 0);

/// An Idempotency-Key header; keys of different numbers differ.
[[nodiscard]] std::string idempotency_key(unsigned number);

}  // namespace iceblink::test
