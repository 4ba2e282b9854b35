#include "tests/fuzz/segment/damaged_files.h"

#include <filesystem>
#include <fstream>
#include <limits>

#include "shm/key.h"
#include "shm/publisher.h"
#include "shm/segment.h"
#include "shm/verifier.h"
#include "tests/fuzz/fuzz_check.h"

namespace iceblink::test {
namespace {

using shm::EncodedKey;
using shm::FindStatus;
using shm::RecordKind;

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  fuzz_check(file.good(), "a file is written", path);
}

/// The small segment's catalog, as a store that has all of it.
class TrueCatalog : public shm::CatalogSource {
 public:
  TrueCatalog(const SmallSegment& segment, std::uint64_t generation)
      : segment_(segment), generation_(generation) {}

  [[nodiscard]] std::uint64_t generation() const override { return generation_; }
  [[nodiscard]] Status for_each(
      const std::function<Status(const shm::Change&)>& visit) const override {
    for (const bool namespaces : {true, false}) {
      for (const auto& version : segment_.versions) {
        if (true_version(segment_, version.key, kSmallGeneration) != &version) continue;
        if ((version.kind == RecordKind::kNamespace) != namespaces) continue;
        ICEBLINK_RETURN_IF_ERROR(visit({.kind = version.kind,
                                        .key = version.key,
                                        .location = version.location,
                                        .generation = generation_}));
      }
    }
    return Ok{};
  }

 private:
  const SmallSegment& segment_;
  const std::uint64_t generation_;
};

/// How many of the small segment's keys are found as they were committed.
std::size_t count_true(const SmallSegment& segment, shm::Segment& reader) {
  std::size_t count = 0;
  for (const auto& version : segment.versions) {
    const shm::Segment::Section section(reader);
    if (!section.ok()) continue;
    const std::uint64_t hash = shm::hash_encoded(version.key, section.arena().hash_seed());
    const auto found = section.arena().find(EncodedKey{version.key}, hash, section.generation());
    const Version* const expected = true_version(segment, version.key, kSmallGeneration);
    if (found.status == FindStatus::kCorrupt) continue;
    const bool is_found = found.status == FindStatus::kFound;
    if (is_found != (expected != nullptr)) continue;
    if (!is_found || found.record.location() == expected->location) ++count;
  }
  return count;
}

void check_attach(const SmallSegment& segment, const std::string& directory) {
  const auto report = shm::verify_segment(directory);
  const auto reader = shm::Segment::attach(directory, std::chrono::milliseconds(0));
  if (reader) {
    const std::size_t count = count_true(segment, **reader);
    fuzz_check(count <= segment.versions.size(), "what is read ends");
    (void)(*reader)->pin();
    return;
  }
  fuzz_check(!report.problems.empty(), "the verifier sees what a reader sees");
  const Error error = reader.error();
  const auto kind = error.kind();
  fuzz_check(kind == ErrorKind::kCorrupt || kind == ErrorKind::kIncompatible ||
                 kind == ErrorKind::kNoSegment,
             "an error is of a kind that is promised", error.message());
  fuzz_check(error.message().find(directory) != std::string::npos, "an error names the file",
             error.message());
}

void check_start(const SmallSegment& segment, const std::string& directory, Start start) {
  shm::PublisherOptions options;
  options.runtime_dir = directory;
  options.store_uuid = small_store_uuid();
  options.hash_seed = 99;
  options.headroom_bytes_min = 4 << 10;
  using OnForeignControl = shm::PublisherOptions::OnForeignControl;
  options.on_foreign_control =
      start == Start::kReplace ? OnForeignControl::kReplace : OnForeignControl::kRefuse;
  auto publisher = shm::Publisher::open(options);
  if (!publisher) {
    const Error error = publisher.error();
    fuzz_check(start == Start::kRefuse && (error.kind() == ErrorKind::kCorrupt ||
                                           error.kind() == ErrorKind::kIncompatible),
               "only what is foreign is refused, and only where that was asked", error.message());
    fuzz_check(error.message().find(directory) != std::string::npos, "a refusal names the file",
               error.message());
    return;
  }
  const std::uint64_t seen = (*publisher)->adopted_generation().value_or(0);
  if (seen > std::numeric_limits<std::uint64_t>::max() - 2) return;
  const std::uint64_t generation = std::max(seen, kSmallGeneration);
  const TrueCatalog store(segment, generation);
  const Status started = (*publisher)->start(store, 1);
  fuzz_check(started.ok(), "a publisher starts over what it did not refuse",
             started ? "" : started.error().message());

  const auto reader = shm::Segment::attach(directory, std::chrono::milliseconds(0));
  fuzz_check(reader.ok(), "it can be attached to", reader ? "" : reader.error().message());
  fuzz_check(count_true(segment, **reader) == segment.versions.size(), "it serves its store");
  const shm::Change change{.kind = RecordKind::kNamespace, .key = "after", .location = {}};
  fuzz_check((*publisher)->reserve({&change, 1}).ok(), "there is room");
  (*publisher)->publish(generation + 1, {&change, 1});
  const auto report = shm::verify_segment(directory);
  fuzz_check(report.problems.empty() && report.generation == generation + 1, "it is sound",
             report.problems.empty() ? "" : report.problems.front());
}

}  // namespace

void write_files(const DamagedSegment& damaged, const std::string& directory) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    std::filesystem::remove(entry.path());
  }
  write_file(directory + "/" + shm::kControlName, damaged.control.span());
  write_file(directory + "/" + shm::kArenaPrefix + std::to_string(kSmallEpoch),
             damaged.arena.span());
}

void check_files(const SmallSegment& segment, const DamagedSegment& damaged,
                 const std::string& directory, Start start) {
  write_files(damaged, directory);
  check_attach(segment, directory);
  if (start != Start::kNone) check_start(segment, directory, start);
}

}  // namespace iceblink::test
