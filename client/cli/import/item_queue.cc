#include "client/cli/import/item_queue.h"

#include <chrono>
#include <exception>
#include <utility>

namespace iceblink::cli {
namespace {

constexpr std::size_t kChunkItems = 1024;
constexpr std::size_t kChunksMax = 32;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;
constexpr std::size_t kStringBytes = 32;  // of each, beside what it holds
/// What a slow source has found does not wait for a chunk to be full.
constexpr std::chrono::milliseconds kChunkAge{200};

std::size_t bytes_of_levels(const Namespace& levels) noexcept {
  std::size_t bytes = 0;
  for (const auto& level : levels) bytes += kStringBytes + level.size();
  return bytes;
}

}  // namespace

std::size_t bytes_of(const SourceItem& item) noexcept {
  std::size_t bytes = sizeof(item);
  if (const auto* const space = std::get_if<FoundNamespace>(&item)) {
    bytes += bytes_of_levels(space->levels);
    for (const auto& [key, value] : space->properties) {
      bytes += 3 * kStringBytes + key.size() + value.size();
    }
  } else if (const auto* const object = std::get_if<FoundObject>(&item)) {
    bytes += bytes_of_levels(object->ident.levels) + object->ident.name.size() +
             object->metadata_location.size();
  } else {
    bytes += std::get<Unreadable>(item).error.message().size();
  }
  return bytes;
}

ItemQueue::ItemQueue(Source& source) : source_(source), reader_([this] { read(); }) {}

ItemQueue::~ItemQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  source_.stop();
  reader_.join();
}

void ItemQueue::read() {
  std::optional<Error> failure;
  try {
    while (true) {
      auto item = source_.next();
      if (!item) failure = item.error();
      if (!item || !*item) break;
      if (!put(std::move(**item))) return;
    }
  } catch (const std::exception& error) {
    failure = Error(ErrorKind::kInternal, std::string("while reading: ") + error.what());
  }
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
  is_at_end_ = true;
  changed_.notify_all();
}

bool ItemQueue::put(SourceItem item) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_stopped_ || chunks_.size() < kChunksMax; });
  if (is_stopped_) return false;
  open_bytes_ += bytes_of(item);
  open_.push_back(std::move(item));
  const bool is_full = open_.size() == kChunkItems || open_bytes_ >= kChunkBytes;
  if (is_full) chunks_.push_back(std::exchange(open_, {}));
  if (is_full) open_bytes_ = 0;
  if (is_full || open_.size() == 1) changed_.notify_all();
  return true;
}

Result<std::vector<SourceItem>> ItemQueue::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_at_end_ || !chunks_.empty() || !open_.empty(); });
  changed_.wait_for(lock, kChunkAge, [this] { return is_at_end_ || !chunks_.empty(); });
  if (!chunks_.empty()) {
    auto items = std::move(chunks_.front());
    chunks_.pop_front();
    changed_.notify_all();
    return items;
  }
  if (!open_.empty()) {
    open_bytes_ = 0;
    return std::exchange(open_, {});
  }
  if (failure_) return *failure_;
  return std::vector<SourceItem>{};
}

}  // namespace iceblink::cli
