// Which of its known members an object has had: each at most once, the required ones at all.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "iceberg/json_reader.h"

namespace iceblink::iceberg {

/// `Member` is an enum of less than 32 values, from 0.
template <typename Member>
class MemberSet {
 public:
  /// False: it is there already, which is reported; the value is passed over.
  [[nodiscard]] bool add(JsonReader& reader, Member member) {
    const std::uint32_t bit = std::uint32_t{1} << static_cast<unsigned>(member);
    if ((seen_ & bit) == 0) [[likely]] {
      seen_ |= bit;
      return true;
    }
    reader.report("occurs twice");
    reader.skip();
    return false;
  }
  [[nodiscard]] bool has(Member member) const noexcept {
    return (seen_ >> static_cast<unsigned>(member) & 1) != 0;
  }

  struct Required {
    Member member;
    std::string_view name;
  };
  /// To be called when the object has ended, while the reader still stands at its path.
  void require(JsonReader& reader, std::initializer_list<Required> members) const {
    if (!reader.has_read_object()) return;
    for (const auto& [member, name] : members) {
      if (!has(member)) [[unlikely]]
        reader.report("is missing", name);
    }
  }

 private:
  std::uint32_t seen_ = 0;
};

}  // namespace iceblink::iceberg
