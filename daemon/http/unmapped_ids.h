// The numbers that stand for many: in a user namespace the kernel shows every user and group that
// is not mapped into it as one, the overflow number (user_namespaces(7)). Whoever has that is
// nobody.
//
// Thread safety: values.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace iceblink::daemon::http {

struct UnmappedIds {
  std::optional<uid_t> user;  // nothing: each number is one user
  std::optional<gid_t> group;

  /// Reads /proc/self and /proc/sys/kernel. Where they do not say, it is taken that there is such a
  /// number, and that it is the kernel's default.
  [[nodiscard]] static UnmappedIds of_this_process();
};

/// What a map such as /proc/self/uid_map means; `overflow`: the text of
/// /proc/sys/kernel/overflowuid.
[[nodiscard]] std::optional<uid_t> unmapped_id(const std::string& map, const std::string& overflow);

}  // namespace iceblink::daemon::http
