#include "client/local_read.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "client/file_errors.h"
#include "client/guard.h"

namespace iceblink::client {
namespace {

/// Of one call: larger ones are cut short by the kernel anyway.
constexpr std::size_t kReadBytesMax = std::size_t{1} << 30;
/// openat2 gives up with EAGAIN when directories are renamed under it.
constexpr int kRetriesMax = 100;

}  // namespace

LocalRead::LocalRead(const std::string& location, std::vector<LocalPath> paths,
                     std::size_t bytes_max, std::size_t index, const BytesWanted& wanted,
                     Result<iceberg::ByteBuffer>& content) noexcept
    : location_(location),
      paths_(std::move(paths)),
      bytes_max_(bytes_max),
      index_(index),
      wanted_(wanted),
      content_(content) {}

void LocalRead::run(OpenFiles& open_files) noexcept {
  buffer_ = iceberg::ByteBuffer{};
  path_index_ = byte_count_ = 0;
  Step step = Step::kOpen;
  while (step != Step::kDone) {
    if (step == Step::kOpen) {
      const int fd = open_file(path());
      if (fd >= 0) open_files.add(fd);
      step = after_open(fd);
    } else {
      const auto got = ::pread(fd_, space(), space_bytes(), static_cast<off_t>(offset()));
      step = after_read(got >= 0 ? got : -errno);
    }
  }
  close(open_files);
}

void LocalRead::close(OpenFiles& open_files) noexcept {
  if (fd_ >= 0) open_files.close(std::exchange(fd_, -1));
}

void LocalRead::leave_descriptor(OpenFiles& open_files) noexcept {
  if (fd_ >= 0) open_files.forget(std::exchange(fd_, -1));
}

LocalRead::Step LocalRead::fail(Error error) noexcept {
  buffer_ = iceberg::ByteBuffer{};
  byte_count_ = 0;
  content_ = std::move(error);
  is_done_ = true;
  return Step::kDone;
}

LocalRead::Step LocalRead::after_open(int result) noexcept {
  if (result < 0) {
    const bool is_passing = result == -EINTR || (result == -EAGAIN && path().is_below_root());
    if (is_passing && ++retry_count_ < kRetriesMax) return Step::kOpen;
    if (result == -EXDEV && path_index_ + 1 < paths_.size()) {
      ++path_index_;
      return Step::kOpen;
    }
    return fail(file_error(-result, location_, "open"));
  }
  fd_ = result;
  if (auto status = look_at_file(); !status) return fail(status.error());
  return Step::kRead;
}

Status LocalRead::look_at_file() noexcept {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return file_error(errno, location_, "stat");
  if (!S_ISREG(status.st_mode)) {
    return Error{ErrorKind::kInvalidArgument, {location_, ": not a regular file"}};
  }
  said_bytes_ = static_cast<std::size_t>(status.st_size);
  if (said_bytes_ > bytes_max_) return file_too_large(location_, bytes_max_);
  // One more, so that a file of the size it says ends with the first read.
  return take_memory(said_bytes_ == 0 ? std::min(kGuessBytes, buffer_bytes_max())
                                      : said_bytes_ + 1);
}

std::size_t LocalRead::buffer_bytes_max() const noexcept {
  return std::min(bytes_max_, std::numeric_limits<std::size_t>::max() / 2) + 1;
}

std::size_t LocalRead::space_bytes() const noexcept {
  return std::min(buffer_.size() - byte_count_, kReadBytesMax);
}

Status LocalRead::take_memory(std::size_t bytes) noexcept {
  auto status = guarded([&]() -> Status {
    announce(bytes);
    if (byte_count_ == 0) {
      buffer_ = iceberg::ByteBuffer(bytes);
    } else {
      buffer_.resize(bytes);
    }
    return Ok{};
  });
  if (status) return status;
  return Error{status.error().kind(), {location_, ": ", status.error().message()}};
}

void LocalRead::announce(std::size_t bytes) const {
  if (wanted_) wanted_(index_, buffer_.capacity() + bytes);
}

Status LocalRead::make_space() noexcept {
  if (byte_count_ < buffer_.size()) return Ok{};
  return take_memory(std::min(buffer_.size() * 2, buffer_bytes_max()));
}

LocalRead::Step LocalRead::after_read(std::ptrdiff_t result) noexcept {
  if (result == -EINTR) return Step::kRead;
  if (result < 0) return fail(file_error(static_cast<int>(-result), location_, "read"));
  const auto got = static_cast<std::size_t>(result);
  const bool was_short = got < space_bytes();
  byte_count_ += got;
  if (byte_count_ > bytes_max_) return fail(file_too_large(location_, bytes_max_));
  // The end is where nothing more comes; or where fstat said that it is, if the read agrees.
  if (got == 0 || (was_short && byte_count_ == said_bytes_)) {
    finish();
    return Step::kDone;
  }
  if (auto status = make_space(); !status) return fail(status.error());
  return Step::kRead;
}

void LocalRead::finish() noexcept {
  buffer_.resize(byte_count_);  // less than it has: takes no memory
  if (buffer_.is_worth_shrinking()) {
    static_cast<void>(guarded([&]() -> Status {  // else it stays as large as it is
      announce(byte_count_);
      buffer_.shrink();
      return Ok{};
    }));
  }
  content_ = std::move(buffer_);
  is_done_ = true;
}

}  // namespace iceblink::client
