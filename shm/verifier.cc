#include "shm/verifier.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>

#include "shm/arena_view.h"
#include "shm/arena_writer.h"
#include "shm/attachment.h"
#include "shm/control_page.h"

namespace iceblink::shm {
namespace {

constexpr int kAttemptsAtRestMax = 8;

bool all_zero(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{0}; });
}

/// One pass over one arena.
class ArenaCheck {
 public:
  ArenaCheck(std::span<const std::byte> bytes, const std::string& name, const ArenaView& view,
             VerifyReport* report)
      : bytes_(bytes), name_(name), view_(view), header_(view.header()), report_(*report) {}

  void run(const ControlPage* page) {
    // relaxed, here and below: judged only when it did not move between two looks
    const std::uint64_t limit = header_.append_limit.load(std::memory_order_relaxed);
    const RootWord root = page == nullptr ? 0 : page->root.load(std::memory_order_relaxed);
    tail_ = view_.published_tail();
    published_ = header_.published_generation.load(std::memory_order_relaxed);
    report_.generation = published_;

    check_header(limit);
    if (!check_records()) return;
    // What was found so far holds for a moving arena too: it is constant once published.
    const std::size_t certain = report_.problems.size();
    const bool at_rest = limit == checked_offset(tail_);
    if (at_rest) {
      if (page != nullptr && root != make_root(header_.epoch, published_)) {
        fail(0, "the root word does not name this arena's epoch and generation " +
                    std::to_string(published_));
      }
      check_counts();
      check_index();
      check_chains();
    } else {
      check_unpublished(limit & kOffsetMask);
    }
    check_free_room(limit & kOffsetMask);

    // relaxed: as above
    const bool moved = header_.append_limit.load(std::memory_order_relaxed) != limit ||
                       view_.published_tail() != tail_;
    if (moved) report_.problems.resize(certain);
    report_.complete = at_rest && !moved;
  }

 private:
  struct Key {
    std::uint64_t newest = 0;
    std::uint64_t heads = 0;  // of a namespace: offset of its ChildHeads
    std::uint64_t hash = 0;
  };
  struct Heads {
    std::uint64_t tables = 0;
    std::uint64_t namespaces = 0;
  };

  void fail(std::uint64_t offset, const std::string& what) {
    if (report_.problems.size() < kVerifyProblemsMax) {
      report_.problems.push_back(name_ + ": offset " + std::to_string(offset) + ": " + what);
    }
  }

  void check_header(std::uint64_t limit) {
    for (const auto& [from, to] :
         {std::pair<std::size_t, std::size_t>{184, 192}, {240, 256}, {272, kArenaHeaderBytes}}) {
      if (header_.features_optional == 0 && !all_zero(bytes_.subspan(from, to - from))) {
        fail(from, "reserved bytes are not zero");
      }
    }
    if (checked_offset(limit & kOffsetMask) != limit) {
      fail(offsetof(ArenaHeader, append_limit), "the append limit's check does not match");
    }
    if (tail_ < header_.base_copy_end || tail_ > header_.file_bytes ||
        (limit & kOffsetMask) < tail_ || (limit & kOffsetMask) > header_.file_bytes) {
      fail(offsetof(ArenaHeader, published_tail), "the tail lies outside of the arena");
    }
    if (published_ - header_.base_generation >= kGenerationsPerArenaMax) {
      fail(offsetof(ArenaHeader, published_generation),
           "the published generation is not one of this arena's");
    }
  }

  // False when the walk cannot go on.
  bool check_records() {
    std::uint64_t offset = header_.records_offset;
    std::uint64_t generation = 0;
    bool base_ended = offset == header_.base_copy_end;
    while (offset < tail_) {
      const RecordView record = view_.record_at(offset);
      if (!record || record.span_bytes() > tail_ - offset) {
        fail(offset, "a record does not end before the tail");
        return false;
      }
      const auto kind = static_cast<std::uint8_t>(record.kind());
      if (kind < 1 || kind > 5) {
        fail(offset, "a record has the unknown kind " + std::to_string(kind));
        return false;
      }
      if (ArenaView::checksum_of(record.raw(), record.key().size(), record.location().size()) !=
          load_once(record.raw().checksum)) {
        fail(offset, "a record's checksum does not match");
        return false;
      }
      const bool in_base = offset < header_.base_copy_end;
      if (in_base ? record.generation() > header_.base_generation
                  : record.generation() < generation ||
                        record.generation() <= header_.base_generation) {
        fail(offset, "a record's generation is out of order");
      }
      if (!in_base) generation = record.generation();
      check_links(record);
      ++report_.record_count;
      offset += record.span_bytes();
      base_ended = base_ended || offset == header_.base_copy_end;
    }
    if (offset != tail_ || !base_ended) {
      fail(offset, "the records do not end at the tail, or the base copy within a record");
    }
    if (generation > published_) fail(0, "a record is newer than the published generation");
    report_.key_count = keys_.size();
    return true;
  }

  void check_links(const RecordView& record) {
    const std::string_view text = record.key();
    const bool names_namespace = text.find(kKeyNameSeparator) == std::string_view::npos;
    if (text.empty() || text.size() > kKeyBytesMax ||
        names_namespace != is_namespace_class(record.kind())) {
      fail(record.offset(), "the key is not one of its kind");
    }
    auto [entry, is_new] = keys_.try_emplace(record.key());
    Key& key = entry->second;
    if (record.previous_offset() != key.newest) fail(record.offset(), "a version link is wrong");
    if (is_new) {
      key.hash = hash_encoded(record.key(), view_.hash_seed());
      if (is_namespace_class(record.kind())) {
        key.heads = record.offset() + record.span_bytes() - sizeof(ChildHeads);
      }
      Heads& parent = heads_[parent_of(record.key())];
      auto& head = is_namespace_class(record.kind()) ? parent.namespaces : parent.tables;
      if (record.next_sibling_offset() != head) fail(record.offset(), "a sibling link is wrong");
      head = record.offset();
    } else if (record.next_sibling_offset() != 0) {
      fail(record.offset(), "a later version is linked as a sibling");
    }
    if (record.level_count() != level_count_of(record.key())) {
      fail(record.offset(), "the number of levels is wrong");
    }
    const std::uint64_t expected = is_namespace_class(record.kind())
                                       ? key.heads
                                       : key_internal::hash_bytes(record.location(), 0);
    if (record.location_hash() != expected) fail(record.offset(), "the location's hash is wrong");
    key.newest = record.offset();
  }

  void check_counts() {
    std::uint64_t tables = 0;
    std::uint64_t views = 0;
    std::uint64_t namespaces = 0;
    for (const auto& [key, state] : keys_) {
      const RecordView newest = view_.record_at(state.newest);
      if (!newest) continue;  // changed under the check, which is noticed elsewhere
      switch (newest.kind()) {
        case RecordKind::kTable:
          ++tables;
          break;
        case RecordKind::kView:
          ++views;
          break;
        case RecordKind::kNamespace:
          ++namespaces;
          break;
        default:
          break;
      }
    }
    // relaxed: see run()
    if (header_.table_count.load(std::memory_order_relaxed) != tables ||
        header_.view_count.load(std::memory_order_relaxed) != views ||
        header_.namespace_count.load(std::memory_order_relaxed) != namespaces) {
      fail(offsetof(ArenaHeader, table_count), "the counts are not those of the records");
    }
  }

  void check_index() {
    const auto slots = view_.slots();
    const auto* sums =
        reinterpret_cast<const Atomic<std::uint64_t>*>(bytes_.data() + header_.sums_offset);
    std::uint64_t used = 0;
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < slots.size(); ++i) {
      // relaxed: see run()
      const Slot slot = slots[i].load(std::memory_order_relaxed);
      if (slot != 0) ++used;
      sum += slot_digest(i, slot);
      if ((i + 1) % kSlotsPerBlock == 0 || i + 1 == slots.size()) {
        // relaxed: see run()
        if (sums[i / kSlotsPerBlock].load(std::memory_order_relaxed) != sum) {
          fail(header_.sums_offset + i / kSlotsPerBlock * 8, "an index block's sum is wrong");
        }
        sum = 0;
      }
    }
    if (used != keys_.size()) {
      fail(header_.index_offset, std::to_string(used) + " slots are in use, there are " +
                                     std::to_string(keys_.size()) + " keys");
    }
    for (const auto& [key, state] : keys_) {
      const Slot wanted = make_slot(state.hash, state.newest);
      std::uint64_t at = home_slot(state.hash, slots.size());
      // relaxed: see run()
      Slot slot = slots[at].load(std::memory_order_relaxed);
      for (std::uint64_t n = 0; slot != 0 && slot != wanted && n < slots.size(); ++n) {
        at = at + 1 == slots.size() ? 0 : at + 1;
        slot = slots[at].load(std::memory_order_relaxed);
      }
      if (slot != wanted) fail(state.newest, "the index does not lead to this record");
    }
  }

  void check_chains() {
    check_heads(offsetof(ArenaHeader, root_children), header_.root_children, "");
    for (const auto& [key, state] : keys_) {
      if (state.heads == 0) continue;
      const ChildHeads* heads = view_.child_heads(view_.record_at(state.newest));
      if (heads != nullptr) check_heads(state.heads, *heads, key);
    }
    for (const auto& [parent, heads] : heads_) {
      const auto found = keys_.find(parent);
      if (parent.empty() || (found != keys_.end() && found->second.heads != 0)) continue;
      fail(std::max(heads.tables, heads.namespaces), "the record's namespace is not here");
    }
  }

  void check_heads(std::uint64_t offset, const ChildHeads& heads, std::string_view key) {
    const auto found = heads_.find(key);
    const Heads expected = found == heads_.end() ? Heads{} : found->second;
    // relaxed: see run()
    if (heads.tables.load(std::memory_order_relaxed) != expected.tables ||
        heads.namespaces.load(std::memory_order_relaxed) != expected.namespaces) {
      fail(offset, "the head of a chain of children is wrong");
    }
  }

  // A publish that is under way, or that died: newer than what is published, or not there yet.
  void check_unpublished(std::uint64_t limit) {
    const RecordView record = view_.record_at(tail_);
    if (tail_ < limit && record && record.generation() <= published_ &&
        ArenaView::checksum_of(record.raw(), record.key().size(), record.location().size()) ==
            load_once(record.raw().checksum)) {
      fail(tail_, "a published record lies beyond the tail");
    }
  }

  void check_free_room(std::uint64_t from) {
    if (from > bytes_.size() || !all_zero(bytes_.subspan(from))) {
      fail(from, "the free room is not zero");
    }
  }

  const std::span<const std::byte> bytes_;
  const std::string& name_;
  const ArenaView& view_;
  const ArenaHeader& header_;
  VerifyReport& report_;
  std::uint64_t tail_ = 0;
  std::uint64_t published_ = 0;
  boost::unordered_flat_map<std::string_view, Key> keys_;
  boost::unordered_flat_map<std::string_view, Heads> heads_;
};

}  // namespace

VerifyReport verify_control(std::span<const std::byte> bytes, const std::string& name) {
  VerifyReport report;
  const auto page = check_control(bytes, name);
  if (!page) {
    report.problems.push_back(page.error().message());
    return report;
  }
  // An optional addition stands in bytes that were zero.
  if ((*page)->features_optional != 0) return report;
  for (const auto& [from, to] : kControlReserved) {
    if (!all_zero(bytes.subspan(from, to - from))) {
      report.problems.push_back(name + ": offset " + std::to_string(from) +
                                ": reserved bytes are not zero");
    }
  }
  return report;
}

VerifyReport verify_arena(std::span<const std::byte> bytes, const std::string& name,
                          const ControlPage* page) {
  VerifyReport report;
  const auto view = ArenaView::open(bytes, name);
  if (!view) {
    report.problems.push_back(view.error().message());
    return report;
  }
  for (int attempt = 0; attempt < kAttemptsAtRestMax; ++attempt) {
    report = {};
    ArenaCheck(bytes, name, *view, &report).run(page);
    if (report.complete) break;
  }
  return report;
}

VerifyReport verify_segment(const std::string& runtime_dir) {
  VerifyReport report;
  for (int attempt = 0; attempt < kAttemptsAtRestMax; ++attempt) {
    Attachment attachment(runtime_dir, nullptr);
    const auto mapping = attachment.run(std::chrono::nanoseconds::zero());
    if (!mapping) {
      report.problems.push_back(mapping.error().message());
      return report;
    }
    const ControlPage& page = *(*mapping)->page;
    report = verify_control((*mapping)->control->file.bytes(), runtime_dir + "/" + kControlName);
    const std::string name = runtime_dir + "/" + kArenaPrefix + std::to_string((*mapping)->epoch);
    VerifyReport arena = verify_arena((*mapping)->file.bytes(), name, &page);
    // relaxed: only compared
    const bool flipped = epoch_of(page.root.load(std::memory_order_relaxed)) != (*mapping)->epoch;
    if (flipped) continue;
    report.problems.insert(report.problems.end(), arena.problems.begin(), arena.problems.end());
    report.record_count = arena.record_count;
    report.key_count = arena.key_count;
    report.generation = arena.generation;
    report.complete = arena.complete;
    return report;
  }
  report.complete = false;
  return report;
}

}  // namespace iceblink::shm
