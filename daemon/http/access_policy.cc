#include "daemon/http/access_policy.h"

#include <string>
#include <utility>

namespace iceblink::daemon::http {

Result<AccessPolicy> AccessPolicy::of(const Settings& settings) {
  AccessPolicy policy;
  ICEBLINK_ASSIGN_OR_RETURN(policy.rules, AccessRules::of(settings.readers, settings.writers));
  if (!settings.token_file.empty()) {
    ICEBLINK_ASSIGN_OR_RETURN(policy.token, BearerToken::from_file(settings.token_file));
  }
  return policy;
}

Access AccessPolicy::access_of(const Caller& caller, std::string_view authorization) const {
  if (caller.transport == Transport::kUnix) {
    return caller.credentials ? rules.access_of(*caller.credentials) : Access::kNone;
  }
  if (!token) return Access::kWrite;
  return token->is(bearer_token_in(authorization)) ? Access::kWrite : Access::kNone;
}

std::optional<RequestRefusal> refusal_of(const Caller& caller, Access needed) {
  if (caller.access >= needed) return std::nullopt;
  if (caller.transport == Transport::kTcp) {
    return RequestRefusal{{401, "NotAuthorizedException"},
                          "the bearer token of this catalog is missing or wrong"};
  }
  const bool writes = needed == Access::kWrite;
  const std::string who =
      caller.credentials ? "uid " + std::to_string(caller.credentials->uid) : "an unknown user";
  return RequestRefusal{{403, "ForbiddenException"},
                        who + (writes ? " may not write: not among the writers of this catalog"
                                      : " may not read: not among the readers of this catalog")};
}

}  // namespace iceblink::daemon::http
