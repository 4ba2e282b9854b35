#include "daemon/http/unmapped_ids.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <sstream>

namespace iceblink::daemon::http {
namespace {

constexpr uid_t kOverflowByDefault = 65534;

std::string text_of(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Each number is itself, as in the namespace of the host.
bool is_identity(const std::string& map) {
  constexpr std::uint64_t kAll = 4'294'967'295;  // the last number is nobody's anyway
  std::istringstream words(map);
  std::uint64_t inside = 1;
  std::uint64_t outside = 1;
  std::uint64_t count = 0;
  return words >> inside >> outside >> count && inside == 0 && outside == 0 && count == kAll;
}

}  // namespace

std::optional<uid_t> unmapped_id(const std::string& map, const std::string& overflow) {
  if (is_identity(map)) return std::nullopt;
  uid_t id = kOverflowByDefault;
  if (std::istringstream words(overflow); words >> id) return id;
  return kOverflowByDefault;
}

UnmappedIds UnmappedIds::of_this_process() {
  return {
      .user = unmapped_id(text_of("/proc/self/uid_map"), text_of("/proc/sys/kernel/overflowuid")),
      .group = unmapped_id(text_of("/proc/self/gid_map"), text_of("/proc/sys/kernel/overflowgid"))};
}

}  // namespace iceblink::daemon::http
