// What callers may do: by user and group over the Unix socket, by token over TCP.
//
// Thread safety: immutable.
#pragma once

#include <iceblink/result.h>

#include <optional>
#include <string_view>

#include "daemon/http/access_rules.h"
#include "daemon/http/bearer_token.h"
#include "daemon/http/caller.h"
#include "daemon/http/header_rules.h"
#include "daemon/settings.h"

namespace iceblink::daemon::http {

struct AccessPolicy {
  AccessRules rules;
  std::optional<BearerToken> token;  // none: everything is served over TCP, which is loopback's

  /// Reads the token's file, and resolves names. Errors of both.
  [[nodiscard]] static Result<AccessPolicy> of(const Settings& settings);

  /// `authorization`: the request's field, lines joined; empty when it was not sent.
  [[nodiscard]] Access access_of(const Caller& caller, std::string_view authorization) const;
};

/// Why `caller` may not do what needs `needed`: 403, or 401 where a token would help. Nothing when
/// it may.
[[nodiscard]] std::optional<RequestRefusal> refusal_of(const Caller& caller, Access needed);

}  // namespace iceblink::daemon::http
