// Updates of a request, applied one after the other. An error says which of them it is about.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace iceblink::iceberg {

/// An error of the request (kInvalidArgument, kConflict), with " (member)" at its end: clients know
/// sentences by how they begin. Other errors stay as they are.
[[nodiscard]] inline Error about(const Error& error, std::string_view member) {
  const bool is_of_request =
      error.kind() == ErrorKind::kInvalidArgument || error.kind() == ErrorKind::kConflict;
  return is_of_request ? Error(error.kind(), {error.message(), " (", member, ")"}) : error;
}

/// Of a commit: members are "updates[0]" and so on.
template <typename Builder, typename Update>
[[nodiscard]] Status apply_updates(Builder& builder, const std::vector<Update>& updates) {
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const Status applied = builder.apply(updates[i]);
    if (!applied) return about(applied.error(), "updates[" + std::to_string(i) + "]");
  }
  return Ok{};
}

/// What a member of a creation asks for.
template <typename Update>
struct MemberUpdate {
  std::string_view member;
  Update update;
};

/// Of a creation.
template <typename Builder, typename Update>
[[nodiscard]] Status apply_updates(Builder& builder,
                                   const std::vector<MemberUpdate<Update>>& updates) {
  for (const auto& [member, update] : updates) {
    const Status applied = builder.apply(update);
    if (!applied) return about(applied.error(), member);
  }
  return Ok{};
}

}  // namespace iceblink::iceberg
