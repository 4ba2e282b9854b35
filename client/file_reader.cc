#include "client/file_reader.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "client/file_places.h"
#include "client/guard.h"
#include "client/local_read.h"
#include "client/object_reads.h"
#include "client/open_files.h"
#include "client/ring_pool.h"

namespace iceblink::client {

class FileReader::State {
 public:
  State(std::unique_ptr<const FilePlaces> places, std::string ring_refusal)
      : places_(std::move(places)), rings_(std::move(ring_refusal), open_files_) {
    add_to_fork_handlers();
  }
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Status read_many(std::span<FileRead> files, std::size_t bytes_max, const BytesWanted& wanted);
  void count(std::span<const FileRead> files) noexcept;
  [[nodiscard]] Stats stats() const;

  // For fork handlers.
  void lock_for_fork();
  void unlock_after_fork() noexcept;
  void abandon_in_child() noexcept;

 private:
  /// Keeps every reader usable in a child process.
  class ForkHandlers;
  static ForkHandlers& fork_handlers();
  void add_to_fork_handlers();
  void read_local(std::span<LocalRead> reads) noexcept;

  const std::unique_ptr<const FilePlaces> places_;
  OpenFiles open_files_;
  RingPool rings_;
  std::atomic<std::size_t> call_count_{0};  // of read_local, under way
  // Counts for showing.
  std::atomic<std::uint64_t> file_count_{0};
  std::atomic<std::uint64_t> ring_file_count_{0};
  std::atomic<std::uint64_t> byte_count_{0};
};

class FileReader::State::ForkHandlers {
 public:
  ForkHandlers() {
    if (::pthread_atfork(before, after_in_parent, after_in_child) != 0) throw std::bad_alloc();
  }
  void add(State* state) {
    const std::lock_guard lock(mutex_);
    states_.push_back(state);
  }
  void remove(State* state) noexcept {
    const std::lock_guard lock(mutex_);
    std::erase(states_, state);
  }

 private:
  static void before() {
    auto& self = fork_handlers();
    self.mutex_.lock();
    for (State* state : self.states_) state->lock_for_fork();
  }
  static void after_in_parent() {
    auto& self = fork_handlers();
    for (State* state : self.states_) state->unlock_after_fork();
    self.mutex_.unlock();
  }
  static void after_in_child() {
    for (State* state : fork_handlers().states_) state->abandon_in_child();
    after_in_parent();
  }

  std::mutex mutex_;
  std::vector<State*> states_;
};

FileReader::State::ForkHandlers& FileReader::State::fork_handlers() {
  static auto* const handlers = new ForkHandlers;  // never destroyed: fork may come late
  return *handlers;
}

void FileReader::State::add_to_fork_handlers() {
  fork_handlers().add(this);
}

FileReader::State::~State() {
  fork_handlers().remove(this);
}

Status FileReader::State::read_many(std::span<FileRead> files, std::size_t bytes_max,
                                    const BytesWanted& wanted) {
  std::vector<LocalRead> local;
  std::vector<ObjectRead> objects;
  local.reserve(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    FileRead& file = files[i];
    auto place = places_->find(file.location);
    if (!place) {
      file.content = place.error();
    } else if (place->reader != nullptr) {
      objects.push_back(
          {place->reader, std::move(place->object), &file.location, i, &file.content});
    } else {
      local.emplace_back(file.location, std::move(place->paths), bytes_max, i, wanted,
                         file.content);
    }
  }
  if (!local.empty()) read_local(local);
  read_objects(objects, bytes_max, wanted);
  return Ok{};
}

void FileReader::State::read_local(std::span<LocalRead> reads) noexcept {
  // relaxed: only which way files are read hangs on it
  const bool is_lone =
      call_count_.fetch_add(1, std::memory_order_relaxed) == 0 && reads.size() == 1;
  if (RingReader* const ring = is_lone ? nullptr : rings_.take(reads.size()); ring != nullptr) {
    rings_.give_back(*ring, ring->run(reads));
    const auto done_count =
        std::count_if(reads.begin(), reads.end(), [](const auto& read) { return read.is_done(); });
    // relaxed: a count for showing
    ring_file_count_.fetch_add(static_cast<std::uint64_t>(done_count), std::memory_order_relaxed);
  }
  for (LocalRead& read : reads) {
    if (!read.is_done()) read.run(open_files_);
  }
  call_count_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: as above
}

void FileReader::State::lock_for_fork() {
  rings_.lock();
  open_files_.lock();
}

void FileReader::State::unlock_after_fork() noexcept {
  open_files_.unlock();
  rings_.unlock();
}

void FileReader::State::abandon_in_child() noexcept {
  call_count_.store(0, std::memory_order_relaxed);  // relaxed: there is no other thread
  rings_.close_all();
  open_files_.close_all();
}

void FileReader::State::count(std::span<const FileRead> files) noexcept {
  std::uint64_t byte_count = 0;
  for (const FileRead& file : files) {
    if (file.content) byte_count += file.content->size();
  }
  // relaxed: counts for showing
  file_count_.fetch_add(files.size(), std::memory_order_relaxed);
  byte_count_.fetch_add(byte_count, std::memory_order_relaxed);
}

FileReader::Stats FileReader::State::stats() const {
  auto ring = rings_.state();
  // relaxed: counts for showing
  return {ring.is_used, std::move(ring.refusal), file_count_.load(std::memory_order_relaxed),
          ring_file_count_.load(std::memory_order_relaxed),
          byte_count_.load(std::memory_order_relaxed)};
}

FileReader::FileReader(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
FileReader::~FileReader() = default;

Result<std::unique_ptr<FileReader>> FileReader::make(const FileOptions& options) {
  return guarded([&]() -> Result<std::unique_ptr<FileReader>> {
    ICEBLINK_ASSIGN_OR_RETURN(auto places, FilePlaces::make(options));
    auto state = std::make_unique<State>(
        std::move(places), options.use_io_uring ? "" : "switched off by use_io_uring");
    return std::unique_ptr<FileReader>(new FileReader(std::move(state)));
  });
}

Result<iceberg::ByteBuffer> FileReader::read(const std::string& location, std::size_t bytes_max,
                                             const BytesWanted& wanted) noexcept {
  return guarded([&]() -> Result<iceberg::ByteBuffer> {
    FileRead file{location};
    read_many({&file, 1}, bytes_max, wanted);
    return std::move(file.content);
  });
}

void FileReader::read_many(std::span<FileRead> files, std::size_t bytes_max,
                           const BytesWanted& wanted) noexcept {
  // What throws comes before the first read.
  const auto status = guarded([&] { return state_->read_many(files, bytes_max, wanted); });
  if (!status) {
    for (FileRead& file : files) file.content = status.error();
  }
  state_->count(files);
}

FileReader::Stats FileReader::stats() const noexcept {
  try {
    return state_->stats();
  } catch (const std::bad_alloc&) {  // without the words, which take memory
    return {};
  }
}

}  // namespace iceblink::client
