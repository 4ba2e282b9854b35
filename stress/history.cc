#include "stress/history.h"

#include <algorithm>

#include "stress/record.h"

namespace iceblink::stress {

History::History(const KeySpace& keys) : keys_(keys), versions_(keys.key_count()) {
  for (auto& versions : versions_) versions.push_back({});
  // The root always exists.
  versions_[keys.namespace_list()].front().value = 1;
  totals_.push_back({});
}

void History::append(std::uint64_t generation, std::span<const Change> changes) {
  ChangeSum total = totals_.back().sum;
  std::vector<Key> groups;
  std::uint64_t index = 0;
  for (const auto& [key, value, begun_ns] : changes) {
    total.sum += change_hash(generation, index++, key, value);
    ++total.count;
    const bool was_there = current(key).value != kAbsent;
    put(key, generation, value, begun_ns);
    if (keys_.is_namespace(key)) {
      if (was_there == (value != kAbsent)) continue;  // its properties
      put_bit(keys_.namespace_list(), key, value != kAbsent, generation, begun_ns);
      put(keys_.table_list(key), generation, value != kAbsent ? 1 : 0, begun_ns);
      put(keys_.view_list(key), generation, value != kAbsent ? 1 : 0, begun_ns);
      continue;
    }
    const ObjectKey& object = keys_.object(key);
    const bool is_view = (value & kViewBit) != 0;
    put_bit(keys_.table_list(object.namespace_index), object.bit, value != kAbsent && !is_view,
            generation, begun_ns);
    put_bit(keys_.view_list(object.namespace_index), object.bit, is_view, generation, begun_ns);
    if (object.group != kNoKey) groups.push_back(object.group);
  }
  for (const Key group : groups) {
    const auto& members = keys_.group(group);
    const Value first = current(members.front()).value;
    const bool is_one = std::all_of(members.begin(), members.end(),
                                    [&](Key member) { return current(member).value == first; });
    put(group, generation, is_one ? first : kMixed, current(members.front()).begun_ns);
  }
  totals_.push_back({generation, total});
  generation_ = generation;
}

void History::reach(std::uint64_t generation) noexcept {
  generation_ = std::max(generation_, generation);
}

void History::put(Key key, std::uint64_t generation, Value value, std::uint64_t begun_ns) {
  auto& versions = versions_[key];
  // Of one generation the last change is what is seen.
  if (versions.back().since == generation && generation != 0) {
    versions.back() = {generation, value, begun_ns};
  } else if (versions.back().value != value) {
    versions.push_back({generation, value, begun_ns});
  }
}

void History::put_bit(Key list, unsigned bit, bool is_set, std::uint64_t generation,
                      std::uint64_t begun_ns) {
  const Value mask = Value{2} << bit;
  const Value before = current(list).value;
  const Value after = is_set ? before | mask : before & ~mask;
  if (after != before) put(list, generation, after, begun_ns);
}

void History::trim(std::uint64_t generation) {
  if (generation <= trimmed_to_) return;
  trimmed_to_ = generation;
  for (auto& versions : versions_) {
    while (versions.size() > 1 && versions[1].since <= generation) versions.pop_front();
  }
  while (totals_.size() > 1 && totals_[1].generation <= generation) totals_.pop_front();
}

Version History::at(Key key, std::uint64_t generation) const {
  const auto& versions = versions_[key];
  const auto above = std::upper_bound(
      versions.begin(), versions.end(), generation,
      [](std::uint64_t wanted, const Version& version) { return wanted < version.since; });
  return above == versions.begin() ? versions.front() : *(above - 1);
}

void History::find(Key key, Value value, Stretch within, std::vector<Stretch>& found) const {
  const auto& versions = versions_[key];
  auto version = std::upper_bound(
      versions.begin(), versions.end(), within.first,
      [](std::uint64_t wanted, const Version& candidate) { return wanted < candidate.since; });
  if (version != versions.begin()) --version;
  for (; version != versions.end() && version->since <= within.last; ++version) {
    if (version->value != value) continue;
    const auto next = version + 1;
    const std::uint64_t end = next == versions.end() ? within.last : next->since - 1;
    found.push_back({std::max(version->since, within.first), std::min(end, within.last)});
  }
}

ChangeSum History::sum(std::uint64_t generation) const {
  const auto above = std::upper_bound(
      totals_.begin(), totals_.end(), generation,
      [](std::uint64_t wanted, const Total& total) { return wanted < total.generation; });
  return above == totals_.begin() ? totals_.front().sum : (above - 1)->sum;
}

std::size_t History::version_count() const noexcept {
  std::size_t count = 0;
  for (const auto& versions : versions_) count += versions.size();
  return count;
}

}  // namespace iceblink::stress
