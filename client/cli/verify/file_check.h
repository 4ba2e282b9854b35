// Metadata files against the pointers to them: there, readable, with the bytes that were
// registered, and of the table that they were registered for.
//
// Thread safety: one thread.
#pragma once

#include <iceblink/options.h>
#include <iceblink/result.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "client/cli/progress.h"
#include "client/cli/verify/problems.h"
#include "client/file_reader.h"
#include "iceberg/location_map.h"
#include "shm/segment.h"

namespace iceblink::cli {

struct FileCheckCounts {
  std::uint64_t read = 0;
  std::uint64_t bytes = 0;
  std::uint64_t unverified = 0;  // registered without a look, so there is nothing to compare with
  std::uint64_t other_schemes = 0;  // that this program does not read
  std::uint64_t moved_on = 0;       // the name stood for something else by then
};

class FileCheck {
 public:
  /// All are kept by reference.
  FileCheck(shm::Segment& segment, const shm::PinnedView& begin, client::FileReader& files,
            const iceberg::LocationMap& places, std::size_t file_bytes_max, Problems& problems)
      : segment_(segment),
        begin_(begin),
        files_(files),
        places_(places),
        file_bytes_max_(file_bytes_max),
        problems_(problems) {}

  void run(Progress& progress);
  [[nodiscard]] const FileCheckCounts& counts() const noexcept { return counts_; }

 private:
  void add(const shm::RecordView& record);
  void read_pending();
  /// About how large the file is.
  [[nodiscard]] std::uint64_t bytes_of(const shm::RecordView& record) const;
  /// What is wrong with it; empty: nothing.
  [[nodiscard]] std::string problem_of(const shm::RecordView& record,
                                       const iceberg::ByteBuffer& content) const;
  [[nodiscard]] bool has_moved_on(const shm::RecordView& record);

  shm::Segment& segment_;
  const shm::PinnedView& begin_;
  client::FileReader& files_;
  const iceberg::LocationMap& places_;
  const std::size_t file_bytes_max_;
  Problems& problems_;
  FileCheckCounts counts_;
  std::vector<shm::RecordView> pending_;  // files that are read together
  std::uint64_t pending_bytes_ = 0;
};

}  // namespace iceblink::cli
