#include "iceberg/view_dialects.h"

#include <algorithm>

#include "iceberg/ascii.h"

namespace iceblink::iceberg {

std::vector<std::string> sql_dialects(const ViewVersion& version) {
  std::vector<std::string> dialects;
  for (const auto& representation : version.representations) {
    if (representation.type != "sql") continue;
    std::string& dialect = dialects.emplace_back(representation.dialect);
    std::transform(dialect.begin(), dialect.end(), dialect.begin(), to_lower);
  }
  std::sort(dialects.begin(), dialects.end());
  return dialects;
}

}  // namespace iceblink::iceberg
