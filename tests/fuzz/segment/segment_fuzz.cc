// A small segment with damage in it, as every reader of one takes it: the checks of both files, an
// arena's lookups, listings and feed, the verifier, a flip's copy, attaching, and a publisher that
// starts over it.
//
// The input is a program of damages (patches.h). What must hold: nothing outside of the bytes is
// read, everything ends, an error names the file, what is found was asked for; and what the
// verifier finds no fault with is read and copied without one.
#include <string>

#include "shm/arena_builder.h"
#include "shm/control_page.h"
#include "shm/verifier.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"
#include "tests/fuzz/segment/damaged_files.h"
#include "tests/fuzz/segment/patches.h"

namespace iceblink::test {

const FuzzedText kFuzzedText = FuzzedText::kBytes;

namespace {

using shm::ArenaView;
using shm::EncodedKey;
using shm::FindStatus;
using shm::Found;
using shm::RecordView;

constexpr const char* kName = "the arena";
constexpr std::uint64_t kGenerations[] = {0, 9, 10, 11, 12, 13, 14, ~std::uint64_t{0}};
constexpr std::size_t kRecordBytesMin = 72;

/// Bits of an input's first byte, beside Resealed.
constexpr std::uint8_t kStartsPublisher = 32;
constexpr std::uint8_t kReplacesForeignPage = 64;
constexpr std::uint8_t kSkipsFiles = 128;

const ScratchDirectory& scratch() {
  static const ScratchDirectory directory;
  return directory;
}

const SmallSegment& small_segment() {
  static const SmallSegment segment = make_small_segment(scratch().path());
  return segment;
}

void check_error(const Error& error, std::string_view name) {
  fuzz_check(error.kind() == ErrorKind::kCorrupt || error.kind() == ErrorKind::kIncompatible,
             "an error is of a kind that is promised", error.message());
  fuzz_check(error.message().find(name) != std::string::npos, "an error names the file",
             error.message());
}

/// Reads of an arena, each with what has to hold of its answer.
class Reads {
 public:
  Reads(const ArenaView& arena, const DamagedSegment& damaged, std::size_t arena_bytes)
      : arena_(arena), damaged_(damaged), steps_max_(arena_bytes / kRecordBytesMin) {}

  /// True: none met damage.
  bool run() {
    for (const auto& version : small_segment().versions) {
      for (const auto generation : kGenerations) find(version.key, generation);
    }
    for (const auto generation : kGenerations) {
      find("absent", generation);
      list("", generation);
    }
    list(
        "a\x1f"
        "b",
        kSmallGeneration);
    list("c", kSmallGeneration);
    list("absent", kSmallGeneration);
    std::size_t steps = 0;
    note(arena_.visit_changes(arena_.published_tail(), [&](const RecordView& record) {
      count_step(&steps);
      touch(record);
    }));
    return !met_damage_;
  }

 private:
  void note(FindStatus status) { met_damage_ = met_damage_ || status == FindStatus::kCorrupt; }
  void count_step(std::size_t* steps) const {
    fuzz_check(++*steps <= steps_max_, "a walk is no longer than the arena");
  }

  void touch(const RecordView& record) {
    for (const char c : record.key()) sum_ = sum_ + static_cast<unsigned char>(c);
    for (const char c : record.location()) sum_ = sum_ + static_cast<unsigned char>(c);
    sum_ = sum_ + record.table_uuid()[0] + record.generation() + record.span_bytes();
  }

  void find(const std::string& key, std::uint64_t generation) {
    const std::uint64_t hash = shm::hash_encoded(key, arena_.hash_seed());
    arena_.prefetch_slot(hash);
    arena_.prefetch_record(hash);
    const Found found = arena_.find(EncodedKey{key}, hash, generation);
    note(found.status);
    if (found.status != FindStatus::kFound) return;
    touch(found.record);
    check_found(found.record, key, generation);
  }

  void check_found(const RecordView& record, std::string_view key, std::uint64_t generation) const {
    fuzz_check(record.key() == key, "what is found has the key that was asked for", key);
    fuzz_check(record.generation() <= generation, "what is found is old enough", key);
    const std::size_t end = record.offset() + record.span_bytes();
    if (damaged_.is_patched(record.offset(), end)) return;
    const Version* const version = true_version(small_segment(), key, record.generation());
    fuzz_check(version != nullptr && version->location == record.location() &&
                   version->kind == record.kind(),
               "what was not damaged is as it was written", key);
  }

  void list(const std::string& levels, std::uint64_t generation) {
    std::size_t steps = 0;
    note(arena_.visit_namespaces(levels, generation, [&](const RecordView& record) {
      count_step(&steps);
      touch(record);
    }));
    steps = 0;
    note(arena_.visit_tables(levels, generation, [&](const RecordView& record) {
      count_step(&steps);
      touch(record);
      fuzz_check(shm::parent_of(record.key()) == levels, "what is listed lies there", levels);
    }));
  }

  const ArenaView& arena_;
  const DamagedSegment& damaged_;
  const std::size_t steps_max_;
  bool met_damage_ = false;
  volatile std::uint64_t sum_ = 0;  // so that what is read is read
};

/// A flip's copy of the arena. `fault`: what the verifier found; empty where it found none.
void check_copy(const ArenaView& arena, std::uint64_t generation, std::size_t arena_bytes,
                const std::string& fault) {
  shm::ArenaParameters parameters;
  parameters.epoch = kSmallEpoch + 1;
  parameters.base_generation = generation;
  parameters.hash_seed = kSmallHashSeed + 1;
  parameters.index_capacity = 2 * kSmallIndexCapacity;
  parameters.record_bytes = arena_bytes;
  ExactBytes bytes(shm::arena_file_bytes(parameters));
  shm::ArenaWriter copy(bytes.span(), parameters);
  Status copied = shm::fill_from(arena, generation, copy);
  std::uint64_t position = arena.header().base_copy_end;
  if (copied) {
    copy.publish_tail(generation);
    const auto report = shm::verify_arena(bytes.span(), "the copy", nullptr);
    fuzz_check(!fault.empty() || report.problems.empty(), "the copy of a sound arena is sound",
               report.problems.empty() ? "" : report.problems.front());
    copied = shm::catch_up(arena, &position, arena.published_tail(), 1000, copy);
  }
  if (copied) return;
  const auto kind = copied.error().kind();
  fuzz_check(kind == ErrorKind::kCorrupt || kind == ErrorKind::kNoSpace,
             "an error is of a kind that is promised", copied.error().message());
  fuzz_check(!fault.empty() || kind == ErrorKind::kNoSpace, "a sound arena is copied",
             copied.error().message());
}

void check_bytes(const DamagedSegment& damaged) {
  const auto report = shm::verify_control(damaged.control.span(), "the page");
  const auto page = shm::check_control(damaged.control.span(), "the page");
  fuzz_check(page.ok() || !report.problems.empty(), "the verifier sees what a reader sees");
  if (!page) check_error(page.error(), "the page");

  const auto bytes = damaged.arena.span();
  const auto arena = ArenaView::open(bytes, kName);
  const auto verified = shm::verify_arena(bytes, kName, page ? *page : nullptr);
  const auto alone = shm::verify_arena(bytes, kName, nullptr);
  for (const auto& problem : verified.problems) {
    fuzz_check(problem.find(kName) != std::string::npos, "a problem names the file", problem);
  }
  if (!arena) {
    check_error(arena.error(), kName);
    fuzz_check(!verified.problems.empty(), "the verifier sees what a reader sees");
    return;
  }
  const bool is_sound = alone.problems.empty() && alone.complete;
  const std::string fault = is_sound ? "" : alone.complete ? alone.problems.front() : "in motion";
  const bool met_no_damage = Reads(*arena, damaged, bytes.size()).run();
  fuzz_check(met_no_damage || !is_sound, "the verifier sees the damage that a reader meets");
  check_copy(*arena, alone.generation, bytes.size(), fault);
}

}  // namespace
}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iceblink::test;
  if (size == 0 || size > 4096) return 0;
  const DamagedSegment damaged = damage(small_segment(), {data, size});
  check_bytes(damaged);
  const Start start = (data[0] & kStartsPublisher) == 0       ? Start::kNone
                      : (data[0] & kReplacesForeignPage) != 0 ? Start::kReplace
                                                              : Start::kRefuse;
  if ((data[0] & kSkipsFiles) == 0) {
    check_files(small_segment(), damaged, scratch().path(), start);
  }
  return 0;
}
