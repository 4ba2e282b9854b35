// A store, a publisher and a committer, as a daemon has them, with the sample in them.
//
// Thread safety: commit by any thread; the rest by one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/sample_catalog.h"
#include "daemon/committer.h"
#include "daemon/store.h"
#include "shm/publisher.h"

namespace iceblink::bench {

class StoreSide {
 public:
  /// Opens what is at `data_dir` (made when missing) and publishes it at `runtime_dir`.
  StoreSide(const std::string& data_dir, const std::string& runtime_dir);

  /// Every namespace and table of the sample, in large commits.
  void fill(const SampleCatalog& catalog);
  /// Blocks until the answer. Returns the generation; fails loudly when refused.
  std::uint64_t commit(std::vector<daemon::Operation> operations);
  /// The location the store has; empty: none.
  [[nodiscard]] std::string location_of(const TableIdent& ident) const;

  [[nodiscard]] daemon::Store& store() noexcept { return *store_; }
  [[nodiscard]] shm::Publisher& publisher() noexcept { return *publisher_; }
  [[nodiscard]] daemon::Committer& committer() noexcept { return *committer_; }

 private:
  std::unique_ptr<daemon::Store> store_;
  std::unique_ptr<shm::Publisher> publisher_;
  std::unique_ptr<daemon::Committer> committer_;
};

}  // namespace iceblink::bench
