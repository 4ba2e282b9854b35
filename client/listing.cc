#include "client/listing.h"

#include <algorithm>
#include <string_view>

#include "client/messages.h"
#include "client/plain_text.h"

namespace iceblink::client {
namespace {

Result<std::vector<std::string>> sorted(std::vector<std::string_view> leaves,
                                        shm::FindStatus status, const Namespace& levels) {
  if (status == shm::FindStatus::kAbsent) return no_such_namespace(levels);
  if (status == shm::FindStatus::kCorrupt) return damaged(format(levels));
  std::sort(leaves.begin(), leaves.end());
  return std::vector<std::string>(leaves.begin(), leaves.end());
}

}  // namespace

Result<std::vector<std::string>> names_of_kind(const shm::ArenaView& arena, const Namespace& levels,
                                               shm::RecordKind kind, std::uint64_t generation) {
  ICEBLINK_RETURN_IF_ERROR(check(levels));
  std::vector<std::string_view> leaves;
  const auto status =
      arena.visit_tables(encode(levels), generation, [&](const shm::RecordView& record) {
        if (record.kind() == kind) leaves.push_back(shm::leaf_of(record.key()));
      });
  return sorted(std::move(leaves), status, levels);
}

Result<std::vector<std::string>> names_of_children(const shm::ArenaView& arena,
                                                   const Namespace& parent,
                                                   std::uint64_t generation) {
  if (!parent.empty()) ICEBLINK_RETURN_IF_ERROR(check(parent));
  std::vector<std::string_view> leaves;
  const auto status = arena.visit_namespaces(
      encode(parent), generation,
      [&](const shm::RecordView& record) { leaves.push_back(shm::leaf_of(record.key())); });
  return sorted(std::move(leaves), status, parent);
}

}  // namespace iceblink::client
