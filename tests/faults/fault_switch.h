// The test's end of a FaultPage: arms one fault of the daemon under the library, and counts.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <new>
#include <string>

#include "faults/fault_page.h"

namespace iceblink::test {

struct Fault {
  faults::Call call = faults::Call::kOpen;
  std::uint64_t at_number = 0;
  faults::Action action = faults::Action::kNone;
  int error = 0;
};

using CallCounts = std::array<std::uint64_t, faults::kCallCount>;

class FaultSwitch {
 public:
  /// Makes the page's file.
  explicit FaultSwitch(std::string file) : file_(std::move(file)) {
    const int fd = ::open(file_.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    EXPECT_EQ(::ftruncate(fd, sizeof(faults::FaultPage)), 0);
    void* const at =
        ::mmap(nullptr, sizeof(faults::FaultPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    EXPECT_NE(at, MAP_FAILED);
    ::close(fd);
    page_ = new (at) faults::FaultPage;
  }
  ~FaultSwitch() {
    ::munmap(page_, sizeof(faults::FaultPage));
    ::unlink(file_.c_str());
  }
  FaultSwitch(const FaultSwitch&) = delete;
  FaultSwitch& operator=(const FaultSwitch&) = delete;

  [[nodiscard]] const std::string& file() const { return file_; }

  /// Counts from zero; the fault, if it is one, fires once.
  void arm(const Fault& fault) {
    for (auto& count : page_->counts) count = 0;
    page_->fired_count = 0;
    page_->fired_on[0] = '\0';
    page_->action = fault.action;
    page_->call = static_cast<std::uint32_t>(fault.call);
    page_->at_number = fault.at_number;
    page_->error = fault.error;
    // SYNC fault-page-armed: all of it is set before; partner: the library
    page_->is_counting.store(1, std::memory_order_release);
  }
  void disarm() { page_->is_counting.store(0, std::memory_order_release); }

  [[nodiscard]] bool has_fired() const {
    // SYNC fault-page-fired: where it fired is there to be read; partner: the library
    return page_->fired_count.load(std::memory_order_acquire) > 0;
  }
  [[nodiscard]] std::string fired_on() const { return page_->fired_on; }
  [[nodiscard]] CallCounts counts() const {
    CallCounts counts{};
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = page_->counts[i];
    return counts;
  }

 private:
  std::string file_;
  faults::FaultPage* page_ = nullptr;
};

}  // namespace iceblink::test
