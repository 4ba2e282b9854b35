#include "client/cli/status/hot_tables.h"

#include <algorithm>
#include <map>

namespace iceblink::cli {

std::vector<HotTables::Row> HotTables::take(const Catalog& catalog, std::size_t rows_max) {
  std::map<std::string, std::uint64_t> counts;
  // Steady commits would go on for ever: what comes after this is the next look's.
  const auto end = catalog.generation();
  while (token_) {
    const auto found = catalog.changes_since(*token_);
    if (!found) {
      token_.reset();
      break;
    }
    token_ = found->token;
    for (const TableChange& change : found->changes) {
      if (change.kind == ObjectKind::kNamespace || change.op == TableChange::Op::kDrop) continue;
      ++counts[format(TableIdent{change.levels, change.name})];
    }
    if (found->changes.empty() || !end || token_->generation >= *end) break;
  }
  if (!token_) {
    if (const auto now = catalog.change_token()) token_ = *now;
  }
  std::vector<Row> rows;
  rows.reserve(counts.size());
  for (const auto& [name, count] : counts) rows.push_back({name, count});
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.commit_count > b.commit_count; });
  if (rows.size() > rows_max) rows.resize(rows_max);
  return rows;
}

}  // namespace iceblink::cli
