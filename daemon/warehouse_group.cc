#include "daemon/warehouse_group.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "daemon/host_names.h"

namespace iceblink::daemon {
namespace {

bool may_give_to(gid_t group) {
  if (::geteuid() == 0 || ::getegid() == group) return true;
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(0, ::getgroups(0, nullptr))));
  const int count = ::getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(0, count)));
  return std::ranges::find(groups, group) != groups.end();
}

}  // namespace

Result<std::optional<gid_t>> warehouse_group(const std::string& name) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto group,
                            find_group(name.empty() ? kDefaultWarehouseGroup : name));
  if (group && may_give_to(*group)) return group;
  if (name.empty()) return std::optional<gid_t>();
  return {ErrorKind::kInvalidArgument,
          "warehouse group '" + name +
              "': " + (group ? "the daemon's user is not in it" : "there is no such group")};
}

}  // namespace iceblink::daemon
