// Errors that several reads give.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/result.h>

#include <string>

namespace iceblink::client {

[[nodiscard]] inline Error no_such_table(const TableIdent& ident) {
  return {ErrorKind::kNotFound, "Table does not exist: " + format(ident)};
}
[[nodiscard]] inline Error no_such_view(const TableIdent& ident) {
  return {ErrorKind::kNotFound, "View does not exist: " + format(ident)};
}
[[nodiscard]] inline Error no_such_namespace(const Namespace& levels) {
  return {ErrorKind::kNotFound, "Namespace does not exist: " + format(levels)};
}
/// `what` was being looked up when it showed.
[[nodiscard]] inline Error damaged(const std::string& what) {
  return {ErrorKind::kCorrupt,
          "the segment is damaged: found while looking up '" + what + "'; try iceblink verify"};
}

}  // namespace iceblink::client
