// Which tables and views were committed to since the last look.
//
// Thread safety: one thread.
#pragma once

#include <iceblink/catalog.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iceblink::cli {

class HotTables {
 public:
  /// Of the feed, in one look; so that a look ends while commits come faster than they are read.
  static constexpr int kCallsMax = 32;
  explicit HotTables(int calls_max = kCallsMax) : calls_max_(calls_max) {}

  struct Row {
    std::string name;  // dotted
    std::uint64_t commit_count = 0;
    friend bool operator==(const Row&, const Row&) = default;
  };

  /// Since the last call, the most first, at most `rows_max`; of the first call none. Where the
  /// feed has a gap (another store, a log that is too short, no daemon to ask) it begins anew. What
  /// is more than calls_max times Catalog::kChangesPerCall is left to the next call.
  [[nodiscard]] std::vector<Row> take(const Catalog& catalog, std::size_t rows_max);

 private:
  const int calls_max_;
  std::optional<ChangeToken> token_;
};

}  // namespace iceblink::cli
