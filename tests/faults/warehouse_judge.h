// Looks for what is half done in a warehouse: files under a name of any other kind than metadata
// has, and metadata that is not whole.
#pragma once

#include <set>
#include <string>

namespace iceblink::test {

class WarehouseJudge {
 public:
  explicit WarehouseJudge(std::string directory) : directory_(std::move(directory)) {}

  /// A pointer to `location` was seen.
  void note_named(const std::string& location) { named_.insert(location); }
  /// What is wrong with the files that came since the last time; empty: nothing.
  [[nodiscard]] std::string judge();
  [[nodiscard]] std::size_t file_count() const { return files_.size(); }
  /// Whole files that no pointer was seen to name: of commits that failed or came to nothing.
  [[nodiscard]] std::size_t unnamed_count() const;

 private:
  const std::string directory_;
  std::set<std::string> files_;
  std::set<std::string> named_;
};

}  // namespace iceblink::test
