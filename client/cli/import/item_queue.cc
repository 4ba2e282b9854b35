#include "client/cli/import/item_queue.h"

#include <chrono>
#include <exception>
#include <utility>

namespace iceblink::cli {
namespace {

constexpr std::size_t kChunkItems = 1024;
constexpr std::size_t kChunksMax = 32;
/// What a slow source has found does not wait for a chunk to be full.
constexpr std::chrono::milliseconds kChunkAge{200};

}  // namespace

ItemQueue::ItemQueue(Source& source) : source_(source), reader_([this] { read(); }) {}

ItemQueue::~ItemQueue() {
  {
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
  }
  changed_.notify_all();
  reader_.join();
}

void ItemQueue::read() {
  std::optional<Error> failure;
  try {
    std::vector<SourceItem> chunk;
    std::chrono::steady_clock::time_point begun{};
    while (true) {
      auto item = source_.next();
      if (!item) failure = item.error();
      const bool is_end = !item || !*item;
      if (chunk.empty()) begun = std::chrono::steady_clock::now();
      if (!is_end) chunk.push_back(std::move(**item));
      const bool is_old = std::chrono::steady_clock::now() - begun > kChunkAge;
      if (is_end || is_old || chunk.size() == kChunkItems) {
        if (!put(std::exchange(chunk, {}))) return;
      }
      if (is_end) break;
    }
  } catch (const std::exception& error) {
    failure = Error(ErrorKind::kInternal, std::string("while reading: ") + error.what());
  }
  const std::lock_guard lock(mutex_);
  failure_ = std::move(failure);
  is_at_end_ = true;
  changed_.notify_all();
}

bool ItemQueue::put(std::vector<SourceItem> items) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_stopped_ || chunks_.size() < kChunksMax; });
  if (is_stopped_) return false;
  if (!items.empty()) chunks_.push_back(std::move(items));
  changed_.notify_all();
  return true;
}

Result<std::vector<SourceItem>> ItemQueue::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return is_at_end_ || !chunks_.empty(); });
  if (!chunks_.empty()) {
    auto items = std::move(chunks_.front());
    chunks_.pop_front();
    changed_.notify_all();
    return items;
  }
  if (failure_) return *failure_;
  return std::vector<SourceItem>{};
}

}  // namespace iceblink::cli
