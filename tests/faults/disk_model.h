// What a disk may hold when the power goes, by the record of what was done to its files.
//
// What was synced is there. Of what was done since, any part may be there: each block of each
// write, each change of a length, each entry of a directory, by itself. A file's data become
// durable by a sync of the file, or by being written through O_DSYNC; a name by a sync of its
// directory, and by nothing else.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "faults/record.h"

namespace iceblink::test {

struct RecordEntry {
  faults::RecordHead head;
  std::string path;
  std::string data;
};

/// The entries of a whole record.
[[nodiscard]] std::vector<RecordEntry> read_record(const std::string& file);

/// Files and directories.
struct DiskImage {
  std::map<std::uint64_t, std::string> bytes;  // by the file's number in the model
  std::map<std::string, std::uint64_t> names;  // path -> number
  std::set<std::string> directories;

  /// The file that can be reached by that path; nullptr: there is none.
  [[nodiscard]] const std::string* find(const std::string& path) const;
  [[nodiscard]] bool has_directory(std::string path) const;
};

/// One thing that is durable or not.
struct DiskChange {
  enum class Kind {
    kBytes,
    kLength,
    kMinLength,
    kName,
    kNoName,
    kRename,
    kDirectory,
    kNoDirectory
  };
  Kind kind = Kind::kBytes;
  std::uint64_t file = 0;
  std::uint64_t offset = 0;
  std::string data;
  std::string path;
  std::string new_path;

  void apply_to(DiskImage& image) const;
  [[nodiscard]] std::string text() const;
};

class DiskModel {
 public:
  /// Of what is at `root` and below, which is not there when the record begins.
  explicit DiskModel(std::string root) : root_(std::move(root)) {}

  void apply(const RecordEntry& entry);

  /// What is there for certain.
  [[nodiscard]] const DiskImage& durable() const { return durable_; }
  /// What may be there, in the order in which it was done.
  [[nodiscard]] const std::vector<DiskChange>& pending() const { return pending_; }
  /// The durable image and the pending changes whose place in `chosen` is true.
  [[nodiscard]] DiskImage image(const std::vector<bool>& chosen) const;
  /// What `entry` does, in blocks; empty: it changes nothing below the root.
  [[nodiscard]] std::vector<DiskChange> changes_of(const RecordEntry& entry) const;

  static constexpr std::uint64_t kBlockBytes = 4096;
  static constexpr std::uint64_t kSectorBytes = 512;

 private:
  [[nodiscard]] bool is_ours(const std::string& path) const;
  [[nodiscard]] std::optional<std::uint64_t> file_of(std::uint64_t inode) const;
  void make_durable(const DiskChange& change);
  void sync(const RecordEntry& entry);

  std::string root_;
  std::map<std::uint64_t, std::uint64_t> files_;  // inode -> the number of the file it is now
  std::uint64_t file_count_ = 0;
  DiskImage durable_;
  std::vector<DiskChange> pending_;
};

}  // namespace iceblink::test
