// The store against the segment, while commits go on.
//
// A page of rows is of one generation G, and so is what it is compared with: what the segment has
// at G. Where it was replaced meanwhile by one that does not go back to G, only what has not
// changed since is judged. Names that the segment had at the beginning and no page told are looked
// up again at the end: they are a difference if they are still what they were.
//
// Thread safety: one thread.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/progress.h"
#include "client/cli/verify/problems.h"
#include "client/cli/verify/store_rows.h"
#include "shm/segment.h"

namespace iceblink::cli {

class StoreCheck {
 public:
  /// All are kept by reference. `begin` is pinned before the first page is asked for.
  StoreCheck(shm::Segment& segment, const shm::PinnedView& begin, Problems& problems);

  /// Adds to the problems. An error says why the rest could not be compared: those of
  /// fetch_store_page and of pinning; kGone: the store became another one meanwhile.
  [[nodiscard]] Status run(client::DaemonClient& daemon, Progress& progress);

  /// That were compared.
  [[nodiscard]] std::uint64_t row_count() const noexcept { return row_count_; }

 private:
  [[nodiscard]] Status compare(const StorePage& page);
  void compare(const StoreRow& row, const shm::PinnedView& now, std::uint64_t generation);
  void note_told(const StoreRow& row);
  [[nodiscard]] Status look_for_untold();

  shm::Segment& segment_;
  const shm::PinnedView& begin_;
  Problems& problems_;
  std::vector<bool> told_;  // by offset of the record that was visible at the beginning
  std::optional<std::string> incarnation_;
  std::uint64_t row_count_ = 0;
};

}  // namespace iceblink::cli
