#include "iceberg/view_dialects.h"

#include <algorithm>

namespace iceblink::iceberg {
namespace {

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::vector<std::string> sql_dialects(const ViewVersion& version) {
  std::vector<std::string> dialects;
  for (const auto& representation : version.representations) {
    if (representation.type != "sql") continue;
    std::string& dialect = dialects.emplace_back(representation.dialect);
    std::transform(dialect.begin(), dialect.end(), dialect.begin(), lower);
  }
  std::sort(dialects.begin(), dialects.end());
  return dialects;
}

}  // namespace iceblink::iceberg
