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
  struct Row {
    std::string name;  // dotted
    std::uint64_t commit_count = 0;
    friend bool operator==(const Row&, const Row&) = default;
  };

  /// Since the last call, the most first, at most `rows_max`; of the first call none. Where the
  /// feed has a gap (another store, a log that is too short, no daemon to ask) it begins anew. More
  /// than some 300,000 changes are told in several calls.
  [[nodiscard]] std::vector<Row> take(const Catalog& catalog, std::size_t rows_max);

 private:
  std::optional<ChangeToken> token_;
};

}  // namespace iceblink::cli
