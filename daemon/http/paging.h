// Pages of a listing.
//
// A token holds the last name given (never an offset: rule 33), what was listed, and a version,
// so that one from another listing or made of garbage is refused and not misread.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/result.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/http/exchange.h"

namespace iceblink::daemon::http {

/// A page has at most this many names, whatever was asked for; it is also the default.
inline constexpr std::size_t kPageSizeMax = 10'000;

enum class Listing : char { kNamespaces = 'n', kTables = 't', kViews = 'v' };

/// What the request wants: everything, when no pageToken was sent.
struct PageRequest {
  std::optional<std::string> after;  // the last name of the page before
  std::optional<std::size_t> limit;
};

/// Reads pageToken and pageSize. kInvalidArgument: a size below 1 or no number; a token that is
/// not one of this listing.
[[nodiscard]] Result<PageRequest> page_request_of(const Exchange& exchange, Listing listing,
                                                  const Namespace& parent);

[[nodiscard]] std::string make_page_token(Listing listing, const Namespace& parent,
                                          std::string_view last_name);
/// The last name; kInvalidArgument when `token` was not made for this listing.
[[nodiscard]] Result<std::string> read_page_token(Listing listing, const Namespace& parent,
                                                  std::string_view token);

/// Appends `,"next-page-token":...`: a token, or null on the last page.
void append_next_page_token(std::string& body, Listing listing, const Namespace& parent,
                            const std::optional<std::string>& next_after);

}  // namespace iceblink::daemon::http
