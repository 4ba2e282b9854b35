// Messages that end with the member of the request that they are about: " (updates[0])".
#pragma once

#include <string>

namespace iceblink::iceberg::testing {

struct NamedMember {
  std::string sentence;
  std::string member;  // empty: none is named
};

/// Members are those of requests; what else stands in brackets belongs to the sentence.
inline NamedMember split_member(const std::string& message) {
  const auto begin = message.rfind(" (");
  if (begin == std::string::npos || !message.ends_with(')')) return {message, ""};
  const std::string member = message.substr(begin + 2, message.size() - begin - 3);
  for (const char* const known :
       {"location", "schema", "partition-spec", "write-order", "properties", "view-version"}) {
    if (member == known) return {message.substr(0, begin), member};
  }
  if (!member.starts_with("updates[")) return {message, ""};
  return {message.substr(0, begin), member};
}

}  // namespace iceblink::iceberg::testing
