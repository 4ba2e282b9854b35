// Elements in the order in which they came, found by a key in O(1). Several may have one key.
//
// Keys come from clients: they are hashed with a seed that no client knows, so that none can make
// many of them fall together.
//
// Thread safety: belongs to one thread. Throws std::bad_alloc.
#pragma once

#include <xxhash.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace iceblink::iceberg {

struct KeyHash {
  std::uint64_t seed = 0;

  [[nodiscard]] std::size_t operator()(std::int64_t key) const noexcept {
    return XXH3_64bits_withSeed(&key, sizeof(key), seed);
  }
  [[nodiscard]] std::size_t operator()(std::string_view key) const noexcept {
    return XXH3_64bits_withSeed(key.data(), key.size(), seed);
  }
};

template <typename Key, typename Value>
using SeededMap = std::unordered_map<Key, Value, KeyHash>;

template <typename Key, typename Element>
class KeyedList {
 public:
  explicit KeyedList(std::uint64_t hash_seed) : last_of_(0, KeyHash{hash_seed}) {}

  /// Behind all others, also those of the same key.
  void append(Key key, const Element& element) {
    const auto [place, is_new] = last_of_.try_emplace(key, kNone);
    slots_.push_back({element, place->second, true});
    place->second = slots_.size() - 1;
    ++count_;
  }
  /// In the place of those of the same key: of the last of them, if there are any.
  void put(Key key, const Element& element) {
    const auto found = last_of_.find(key);
    if (found == last_of_.end()) return append(key, element);
    Slot& slot = slots_[found->second];
    remove_before(slot);
    slot.element = element;
  }
  /// All of that key. False: there was none.
  bool remove(Key key) {
    const auto found = last_of_.find(key);
    if (found == last_of_.end()) return false;
    Slot& slot = slots_[found->second];
    remove_before(slot);
    slot.is_there = false;
    --count_;
    last_of_.erase(found);
    return true;
  }

  /// The last one of that key; null: there is none. Valid until something is added.
  [[nodiscard]] const Element* find(Key key) const noexcept {
    const auto found = last_of_.find(key);
    return found == last_of_.end() ? nullptr : &slots_[found->second].element;
  }
  /// Calls `on_element(element)` for all of that key, the last one first.
  template <typename OnElement>
  void for_each_of(Key key, OnElement on_element) const {
    const auto found = last_of_.find(key);
    std::size_t at = found == last_of_.end() ? kNone : found->second;
    for (; at != kNone; at = slots_[at].before) on_element(slots_[at].element);
  }

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  [[nodiscard]] std::vector<Element> elements() const {
    std::vector<Element> elements;
    elements.reserve(count_);
    for (const Slot& slot : slots_) {
      if (slot.is_there) elements.push_back(slot.element);
    }
    return elements;
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Slot {
    Element element;
    std::size_t before;  // the one before it that has the same key
    bool is_there;
  };

  void remove_before(Slot& slot) {
    for (std::size_t at = slot.before; at != kNone; at = slots_[at].before) {
      slots_[at].is_there = false;
      --count_;
    }
    slot.before = kNone;
  }

  std::vector<Slot> slots_;
  SeededMap<Key, std::size_t> last_of_;
  std::size_t count_ = 0;
};

}  // namespace iceblink::iceberg
