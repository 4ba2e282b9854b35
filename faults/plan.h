// What ICEBLINK_FILE_FAULTS asks for: elements between commas.
//
//   slow:SEED:MEAN_US    each call that writes or syncs files waits a random time first
//   fail:CALL:N:ERRNO    the Nth CALL fails ("ENOSPC"), counted from the start of the program
//   short:CALL:N         the Nth CALL is carried out for a half
//   page:FILE            a FaultPage, by which a test says the same while the program runs
//   record:FILE          appends what is done to files (record.h)
//
// Forked children go on with all of it but the record; what they execute starts anew.
#pragma once

#include <cstdint>
#include <string_view>

#include "faults/fault_page.h"

namespace iceblink::faults {

struct Plan {
  static constexpr std::size_t kPathBytesMax = 1024;

  std::uint64_t seed = 0;
  std::uint64_t delay_mean_us = 0;  // 0: nothing waits
  Action action = Action::kNone;
  Call call = Call::kOpen;
  std::uint64_t at_number = 0;
  int error = 0;
  char page_file[kPathBytesMax] = {};
  char record_file[kPathBytesMax] = {};
};

/// False when `text` is none of the above; `plan` is then of no use. Allocates nothing.
[[nodiscard]] bool parse_plan(std::string_view text, Plan& plan) noexcept;

/// The time that the `index`th slowed call waits: exponentially distributed, at most 20 means.
[[nodiscard]] std::uint64_t delay_us(const Plan& plan, std::uint64_t index) noexcept;

/// "ENOSPC" and so on; 0: none that we know.
[[nodiscard]] int error_named(std::string_view name) noexcept;

}  // namespace iceblink::faults
