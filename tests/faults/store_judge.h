// Judges a disk after a loss of power: what the daemon's own store finds there, against the history
// of what was committed.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "daemon/store.h"
#include "tests/faults/disk_model.h"

namespace iceblink::test {

/// The pointers of a catalog: encoded keys, with the kind in front, and locations.
using Pointers = std::map<std::string, std::string>;

/// Every generation of a store, from its log.
class History {
 public:
  /// `data_dir` holds a store that nobody uses; its log reaches back to the beginning.
  explicit History(const std::string& data_dir);

  [[nodiscard]] std::uint64_t last_generation() const { return pointers_.rbegin()->first; }
  /// Every generation that changed something is there.
  [[nodiscard]] const Pointers* at(std::uint64_t generation) const;

 private:
  std::map<std::uint64_t, Pointers> pointers_;
};

class StoreJudge {
 public:
  /// Stores are laid into `scratch_dir`.
  StoreJudge(const History& history, std::string data_dir, std::string scratch_dir)
      : history_(history), data_dir_(std::move(data_dir)), scratch_dir_(std::move(scratch_dir)) {}

  /// What is wrong with the disk when answers have said `seen_generation`; empty: nothing.
  /// `noise`: what LMDB's file of locks, which is not durable, holds.
  [[nodiscard]] std::string judge(const DiskImage& image, std::uint64_t seen_generation,
                                  std::uint64_t noise) const;

 private:
  [[nodiscard]] std::string judge_store(const DiskImage& image,
                                        std::uint64_t seen_generation) const;
  [[nodiscard]] std::string judge_pointer(const DiskImage& image, const shm::Change& row) const;
  void lay_out(const std::string& store, std::uint64_t noise) const;

  const History& history_;
  const std::string data_dir_;
  const std::string scratch_dir_;
};

}  // namespace iceblink::test
