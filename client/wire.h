// How names and errors look on the wire: URLs, JSON, and what an answer's status and error type
// mean.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/batch.h>
#include <iceblink/identifier.h>
#include <iceblink/result.h>

#include <string>
#include <string_view>

#include "client/daemon_client.h"

namespace iceblink::client {

/// "/v1/namespaces/a%1Fb": each level percent-encoded but for unreserved characters.
[[nodiscard]] std::string namespace_path(const Namespace& levels);
[[nodiscard]] std::string table_path(const TableIdent& ident);
[[nodiscard]] std::string view_path(const TableIdent& ident);

/// Appends `text` as a JSON string.
void append_json_string(std::string& out, std::string_view text);
/// Appends names as a JSON list.
void append_json_names(std::string& out, const std::vector<std::string>& names);
/// Appends properties as a JSON object.
void append_json_properties(std::string& out, const Properties& properties);

[[nodiscard]] inline bool is_success(const Answer& answer) noexcept {
  return answer.status >= 200 && answer.status < 300;
}

/// The error that an answer other than 2xx stands for: by the `type` in its body, else by its
/// status. A failure of the server (500, 502, 504) in a write is kStateUnknown, unless the type
/// says more.
[[nodiscard]] Error error_of(const Request& request, const Answer& answer);

/// The same of an answer to a read whose body says nothing that is known.
[[nodiscard]] ErrorKind kind_of_read(unsigned status) noexcept;

}  // namespace iceblink::client
