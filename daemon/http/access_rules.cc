#include "daemon/http/access_rules.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "daemon/host_names.h"

namespace iceblink::daemon::http {
namespace {

// Users and groups have numbers of one type. All ones is nobody's: it means "leave as it is".
using Id = std::uint32_t;
static_assert(std::is_same_v<uid_t, Id> && std::is_same_v<gid_t, Id>);
constexpr Id kNoId = static_cast<Id>(-1);

std::optional<Id> number_in(std::string_view text) noexcept {
  Id id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc{} || end != text.data() + text.size() || id == kNoId) return std::nullopt;
  return id;
}

}  // namespace

bool AccessRules::has(const Peers& peers, const PeerCredentials& peer) const noexcept {
  return (peer.uid != unmapped_.user &&
          std::ranges::find(peers.users, peer.uid) != peers.users.end()) ||
         std::ranges::any_of(peers.groups, [&](gid_t group) {
           return group != unmapped_.group && peer.is_in_group(group);
         });
}

AccessRules::AccessRules(UnmappedIds unmapped) : unmapped_(unmapped) {
  writers_.users = {0, ::geteuid()};
}

Status AccessRules::add(const PeerList& list, const char* setting, Peers& peers) const {
  for (const std::string& entry : list.names) {
    const bool is_group = entry.starts_with('@');
    const std::string name = entry.substr(is_group ? 1 : 0);
    std::optional<Id> id = number_in(name);
    if (!id) {
      ICEBLINK_ASSIGN_OR_RETURN(id, is_group ? find_group(name) : find_user(name));
    }
    if (id && list.is_configured && *id == (is_group ? unmapped_.group : unmapped_.user)) {
      return {ErrorKind::kInvalidArgument,
              std::string(setting) + ": '" + entry + "' is " + std::to_string(*id) +
                  ", which in this user namespace is every " + (is_group ? "group" : "user") +
                  " that is not mapped into it"};
    }
    if (id) {
      (is_group ? peers.groups : peers.users).push_back(*id);
    } else if (list.is_configured) {
      return {ErrorKind::kInvalidArgument, std::string(setting) + ": there is no " +
                                               (is_group ? "group" : "user") + " '" + name +
                                               "' on this host"};
    }
  }
  return Ok{};
}

Result<AccessRules> AccessRules::of(const PeerList& readers, const PeerList& writers,
                                    UnmappedIds unmapped) {
  AccessRules rules(unmapped);
  ICEBLINK_RETURN_IF_ERROR(rules.add(readers, "readers", rules.readers_));
  ICEBLINK_RETURN_IF_ERROR(rules.add(writers, "writers", rules.writers_));
  return rules;
}

Access AccessRules::access_of(const PeerCredentials& peer) const noexcept {
  if (has(writers_, peer)) return Access::kWrite;
  return has(readers_, peer) ? Access::kRead : Access::kNone;
}

}  // namespace iceblink::daemon::http
