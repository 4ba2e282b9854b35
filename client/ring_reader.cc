#include "client/ring_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace iceblink::client {
namespace {

bool is_short_of_descriptors(int result) noexcept {
  return result == -EMFILE || result == -ENFILE;
}

/// The ring's descriptor was closed by somebody: the others may have been, too, and their numbers
/// be in use for something else.
bool is_robbed(int code) noexcept {
  return code == EBADF || code == EOPNOTSUPP;
}

/// Without O_NONBLOCK, which was for the open: with it a ring takes the file for one that never
/// waits, and would itself wait for a file system that does (a network's, a FUSE).
void let_it_wait(int fd) noexcept {
  static_cast<void>(::fcntl(fd, F_SETFL, 0));
}

LocalRead::Step read_here(LocalRead& read) noexcept {
  const auto got =
      ::pread(read.fd(), read.space(), read.space_bytes(), static_cast<off_t>(read.offset()));
  return read.after_read(got >= 0 ? got : -errno);
}

}  // namespace

Result<std::unique_ptr<RingReader>> RingReader::make(OpenFiles& open_files) {
  ICEBLINK_ASSIGN_OR_RETURN(auto ring, Ring::make(kFilesMax));
  return std::unique_ptr<RingReader>(new RingReader(std::move(ring), open_files));
}

RingReader::RingReader(std::unique_ptr<Ring> ring, OpenFiles& open_files) noexcept
    : ring_(std::move(ring)), open_files_(open_files) {
  for (std::size_t i = 0; i < kFilesMax; ++i) free_[i] = i;
}

Status RingReader::run(std::span<LocalRead> reads) noexcept {
  active_count_max_ = kFilesMax;
  while (true) {
    for (; !reads.empty() && has_room(); reads = reads.subspan(1)) start(reads.front());
    if (active_count_ == 0) return Ok{};
    if (const int code = ring_->submit_and_wait(); code != 0) {
      abandon(code);
      return ring_refusal("io_uring_enter", code);
    }
    while (const auto completion = ring_->next()) advance(*completion);
  }
}

void RingReader::start(LocalRead& read) noexcept {
  const std::size_t index = free_[--free_count_];
  ++active_count_;
  slots_[index] = {&read, LocalRead::Step::kOpen, false, {}};
  submit(index);
}

void RingReader::submit(std::size_t index) noexcept {
  Slot& slot = slots_[index];
  LocalRead& read = *slot.read;
  if (slot.step == LocalRead::Step::kOpen) {
    ring_->open(index, read.path(), slot.how);
  } else {
    ring_->read(index, read.fd(), read.space(), read.space_bytes(), read.offset());
  }
}

void RingReader::advance(const Ring::Completion& completion) noexcept {
  const auto index = static_cast<std::size_t>(completion.tag);
  Slot& slot = slots_[index];
  LocalRead& read = *slot.read;
  if (slot.step == LocalRead::Step::kOpen) {
    // With other files open, one of them is going to give its descriptor back.
    if (is_short_of_descriptors(completion.result) && active_count_ > postponed_count_ + 1) {
      postpone(index);
      return;
    }
    if (completion.result >= 0) open_files_.add(completion.result);
    slot.step = read.after_open(completion.result);
    if (slot.step == LocalRead::Step::kRead) let_it_wait(read.fd());
  } else {
    slot.step = completion.result == -EAGAIN ? read_here(read) : read.after_read(completion.result);
  }
  if (slot.step != LocalRead::Step::kDone) {
    submit(index);
    return;
  }
  read.close(open_files_);
  release(index);
}

void RingReader::postpone(std::size_t index) noexcept {
  slots_[index].is_postponed = true;
  ++postponed_count_;
  active_count_max_ = std::max<std::size_t>(active_count_ - postponed_count_, 1);
}

void RingReader::resume_postponed() noexcept {
  if (postponed_count_ == 0) return;
  const auto found = std::find_if(slots_.begin(), slots_.end(),
                                  [](const Slot& slot) { return slot.is_postponed; });
  found->is_postponed = false;
  --postponed_count_;
  submit(static_cast<std::size_t>(found - slots_.begin()));
}

void RingReader::release(std::size_t index) noexcept {
  slots_[index] = Slot{};
  free_[free_count_++] = index;
  --active_count_;
  if (postponed_count_ == 0) active_count_max_ = std::min(active_count_max_ + 1, kFilesMax);
  resume_postponed();
}

void RingReader::abandon(int code) noexcept {
  for (Slot& slot : slots_) {
    if (slot.read == nullptr) continue;
    if (!ring_->is_idle()) slot.read->leave_memory();
    if (is_robbed(code)) {
      slot.read->leave_descriptor(open_files_);
    } else {
      slot.read->close(open_files_);
    }
  }
}

}  // namespace iceblink::client
