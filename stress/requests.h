// What writers send: the bodies and targets of their requests.
#pragma once

#include <iceblink/identifier.h>

#include <string>
#include <string_view>
#include <vector>

namespace iceblink::stress::requests {

/// Lines of POST /iceblink/v1/batch. `more`: further members, each with a comma before it.
[[nodiscard]] std::string register_line(const TableIdent& ident, std::string_view location,
                                        std::string_view more);
[[nodiscard]] std::string drop_line(const TableIdent& ident);
[[nodiscard]] std::string create_namespace_line(std::string_view name);
[[nodiscard]] std::string drop_namespace_line(std::string_view name);

// Bodies of the Iceberg REST protocol.
[[nodiscard]] std::string creation(std::string_view table);
[[nodiscard]] std::string registration(std::string_view table, std::string_view location);
[[nodiscard]] std::string renaming(const TableIdent& from, const TableIdent& to);
/// Sets a property of the table, whatever there is.
[[nodiscard]] std::string commit(std::string_view value);
[[nodiscard]] std::string transaction(const std::vector<TableIdent>& tables,
                                      std::string_view value);

}  // namespace iceblink::stress::requests
