// Names in URLs: percent-decoding, and how a path's segments become identifiers.
//
// A namespace's levels are split at the *encoded* separators (%1F, and the one that the server
// advertises), then each is decoded exactly once, so that %2F, %2E and %251F stay inside their
// level. A raw '+' is ambiguous: form-encoding clients (the Java one) mean a space, RFC 3986
// clients mean a plus. Both readings are kept, and the catalog decides: the space, unless only the
// other one exists.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/result.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iceblink::daemon::http {

enum class PlusMeans : std::uint8_t { kSpace, kPlus };

/// kInvalidArgument on a broken or cut escape.
[[nodiscard]] Result<std::string> percent_decode(std::string_view text, PlusMeans plus);

/// Between levels, whatever else a server advertises.
inline constexpr std::string_view kEncodedSeparator = "%1F";

/// `raw`: one path segment, still encoded. `separator`: one percent-encoded byte that separates
/// levels beside %1F. Validated: kInvalidArgument names the bad level.
[[nodiscard]] Result<Namespace> decode_namespace_segment(
    std::string_view raw, PlusMeans plus, std::string_view separator = kEncodedSeparator);

/// As above, of a query's value, where the separator's byte may also stand for itself: clients
/// encode the value as a whole.
[[nodiscard]] Result<Namespace> decode_namespace_query(
    std::string_view raw, PlusMeans plus, std::string_view separator = kEncodedSeparator);

/// The two path segments of a table or view, decoded and validated.
[[nodiscard]] Result<TableIdent> decode_table_segments(
    std::string_view raw_namespace, std::string_view raw_name, PlusMeans plus,
    std::string_view separator = kEncodedSeparator);

/// True when the two readings of '+' differ.
[[nodiscard]] inline bool is_ambiguous(std::string_view raw) noexcept {
  return raw.find('+') != std::string_view::npos;
}

/// A request target, cut up but not decoded. Views into the target.
struct Target {
  std::vector<std::string_view> segments;                            // "/v1/config" -> {v1, config}
  std::vector<std::pair<std::string_view, std::string_view>> query;  // name, raw value
};

/// Origin form ("/path?query") or absolute form ("http://host/path"). kInvalidArgument for
/// anything else.
[[nodiscard]] Result<Target> split_target(std::string_view target);

}  // namespace iceblink::daemon::http
