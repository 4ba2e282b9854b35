// Request bodies: JSON, and the members a handler looks for. Unknown members are ignored.
//
// Every error is kInvalidArgument and names the member.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/result.h>

#include <boost/json/object.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/operation.h"

namespace iceblink::daemon::http {

/// Nesting allowed in a body.
inline constexpr std::size_t kJsonDepthMax = 32;

/// A JSON object, valid UTF-8, not nested deeper than `depth_max`, no key twice in one object, no
/// half of a surrogate pair in a string. A BOM in front of it is passed over.
[[nodiscard]] Result<boost::json::object> parse_object(std::string_view text,
                                                       std::size_t depth_max = kJsonDepthMax);

[[nodiscard]] Result<std::string> required_string(const boost::json::object& object,
                                                  std::string_view member);
/// Absent and null are an empty optional.
[[nodiscard]] Result<std::optional<std::string>> optional_string(const boost::json::object& object,
                                                                 std::string_view member);
/// Absent and null are false.
[[nodiscard]] Result<bool> optional_flag(const boost::json::object& object,
                                         std::string_view member);
/// Absent and null are empty.
[[nodiscard]] Result<std::vector<std::string>> string_list(const boost::json::object& object,
                                                           std::string_view member);
/// String to string. Absent and null are empty.
[[nodiscard]] Result<Properties> properties_member(const boost::json::object& object,
                                                   std::string_view member);

/// A list of levels, validated.
[[nodiscard]] Result<Namespace> namespace_member(const boost::json::object& object);
/// {"namespace": [...], "name": "..."}, validated.
[[nodiscard]] Result<TableIdent> table_ident_of(const boost::json::object& object);
/// A member that is such an object.
[[nodiscard]] Result<TableIdent> table_ident_member(const boost::json::object& object,
                                                    std::string_view member);

/// Appends `text` as a JSON string.
void append_json_string(std::string& out, std::string_view text);
/// Appends a namespace as a JSON list.
void append_json_levels(std::string& out, const Namespace& levels);
/// Appends properties as a JSON object.
void append_json_properties(std::string& out, const Properties& properties);

}  // namespace iceblink::daemon::http
