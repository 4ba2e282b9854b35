#include "daemon/document_cache.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace iceblink::daemon {
namespace {

constexpr std::int64_t kYoungNs = 100'000'000;
/// Where clocks tick in whole seconds.
constexpr std::int64_t kYoungByCoarseClocksNs = 2'000'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kNsPerMs = 1'000'000;

std::int64_t ns_of(const timespec& time) noexcept {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

bool is_young(const FileStamp& stamp, std::int64_t at_ms) noexcept {
  const std::int64_t touched_ns = std::max(stamp.modified_ns, stamp.changed_ns);
  const bool is_coarse = touched_ns % kNsPerSecond == 0;
  return at_ms * kNsPerMs - touched_ns < (is_coarse ? kYoungByCoarseClocksNs : kYoungNs);
}

}  // namespace

FileStamp FileStamp::of(const struct stat& status) noexcept {
  return {FileIdentity::of(status), status.st_size, ns_of(status.st_mtim), ns_of(status.st_ctim)};
}

DocumentCache::Place& DocumentCache::place_of(const shm::Id& fingerprint) noexcept {
  std::uint64_t word = 0;  // of a hash: any part of it will do
  std::memcpy(&word, fingerprint.data(), sizeof(word));
  return places_[word % kTexts];
}

std::shared_ptr<const std::string> DocumentCache::find(const shm::Id& fingerprint,
                                                       const FileStamp& stamp) {
  Place& place = place_of(fingerprint);
  std::unique_lock lock(place.mutex);
  const std::shared_ptr<const Kept> kept = place.kept;
  lock.unlock();
  if (kept == nullptr || kept->fingerprint != fingerprint || kept->stamp != stamp) {
    return nullptr;
  }
  return kept->text;
}

void DocumentCache::keep(const shm::Id& fingerprint, const FileStamp& stamp,
                         std::shared_ptr<const std::string> text, std::int64_t at_ms) {
  if (text->size() > kTextBytesMax || is_young(stamp, at_ms)) return;
  auto kept = std::make_shared<const Kept>(Kept{fingerprint, stamp, std::move(text)});
  Place& place = place_of(fingerprint);
  const std::lock_guard lock(place.mutex);
  place.kept.swap(kept);  // what was there goes after the lock
}

}  // namespace iceblink::daemon
