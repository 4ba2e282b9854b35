// A publisher over the sample, without a store: what a daemon does between two fsyncs.
//
// Thread safety: move and prepare by one thread; publisher() as Publisher says.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/sample_catalog.h"
#include "shm/publisher.h"

namespace iceblink::bench {

inline constexpr std::uint64_t kHashSeed = 0x1ceb11;

/// A publisher of what the source has, at generation 1. The directory is made when it is missing.
[[nodiscard]] std::unique_ptr<shm::Publisher> publish(const std::string& runtime_dir,
                                                      const shm::CatalogSource& source);

class PublisherSide {
 public:
  /// Builds the first arena. The directory is made when it is missing.
  PublisherSide(const std::string& runtime_dir, SampleCatalog catalog);

  /// A pointer move, its bytes made beforehand.
  struct Move {
    std::string key;
    std::string location;
  };
  /// Of uniform random tables out of `among`, which lie all over the catalog.
  [[nodiscard]] std::vector<Move> prepare(std::size_t count, std::uint64_t seed,
                                          std::size_t among) const;
  [[nodiscard]] Move prepare_one(std::size_t table_index, std::size_t version) const;

  /// One commit: room, then visible. Returns its generation.
  std::uint64_t commit(const Move& move) {
    reserve(move);
    return publish(move);
  }
  void reserve(const Move& move);
  /// What was reserved last.
  std::uint64_t publish(const Move& move);

  [[nodiscard]] shm::Publisher& publisher() noexcept { return *publisher_; }
  [[nodiscard]] const SampleCatalog& catalog() const noexcept { return catalog_; }

 private:
  SampleCatalog catalog_;
  std::unique_ptr<shm::Publisher> publisher_;
  std::uint64_t generation_ = 1;
};

}  // namespace iceblink::bench
