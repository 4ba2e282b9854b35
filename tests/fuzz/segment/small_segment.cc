#include "tests/fuzz/segment/small_segment.h"

#include <iceblink/identifier.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "shm/arena_writer.h"
#include "shm/control_page.h"
#include "tests/fuzz/fuzz_check.h"

namespace iceblink::test {
namespace {

using shm::RecordKind;

constexpr std::size_t kAlignment = 4096;

std::byte* allocate(std::size_t size) {
  void* memory = nullptr;
  if (::posix_memalign(&memory, kAlignment, std::max(size, std::size_t{1})) != 0) std::abort();
  return static_cast<std::byte*>(memory);
}

std::vector<Version> history() {
  const auto ns = [](const Namespace& levels) { return encode(levels); };
  const auto table = [](const Namespace& levels, const char* name) {
    return encode(TableIdent{levels, name});
  };
  std::vector<Version> versions = {
      {RecordKind::kNamespace, ns({"a"}), "", 7},
      {RecordKind::kNamespace, ns({"long name of a level"}), "", 8},
      {RecordKind::kNamespace, ns({"a", "b"}), "", 9},
      {RecordKind::kTable, table({"a"}, "t0"), "file:/t0/v1", 10},
      {RecordKind::kTable, table({"a"}, "t1"), "file:/t1/v1", 10},
      {RecordKind::kView, table({"a"}, "v"), "file:/v/v1", 10},
      {RecordKind::kTable, table({"a", "b"}, "deep"), "file:/deep/v1", 10},
      // What follows came after the base copy.
      {RecordKind::kTable, table({"a"}, "t1"), "file:/t1/v2", 11},
      {RecordKind::kNamespace, ns({"c"}), "", 11},
      {RecordKind::kTable, table({"c"}, "new"), "file:/new/v1", 11},
      {RecordKind::kTombstone, table({"a"}, "t0"), "", 12},
      {RecordKind::kTombstone, table({"a", "b"}, "deep"), "", 12},
      {RecordKind::kNamespaceTombstone, ns({"a", "b"}), "", 12},
      {RecordKind::kTable, table({"a"}, "t0"), "file:/t0/v2", 13},
      {RecordKind::kNamespace, ns({"a", "b"}), "", 13},
      {RecordKind::kTable, table({"a"}, "t1"), "file:/t1/v3", 13},
  };
  return versions;
}

}  // namespace

void ExactBytes::Free::operator()(std::byte* bytes) const noexcept {
  std::free(bytes);
}

ExactBytes::ExactBytes(std::span<const std::byte> bytes)
    : bytes_(allocate(bytes.size())), size_(bytes.size()) {
  std::copy(bytes.begin(), bytes.end(), bytes_.get());
}

ExactBytes::ExactBytes(std::size_t size) : bytes_(allocate(size)), size_(size) {
  std::fill_n(bytes_.get(), size, std::byte{0});
}

void ExactBytes::resize(std::size_t size) {
  ExactBytes other(size);
  std::copy_n(bytes_.get(), std::min(size, size_), other.bytes_.get());
  *this = std::move(other);
}

shm::Id small_store_uuid() noexcept {
  return {7};
}

SmallSegment make_small_segment(const std::string& directory) {
  shm::ArenaParameters parameters;
  const shm::Id control_id = {1, 2, 3};
  parameters.control_id = control_id;
  parameters.store_uuid = small_store_uuid();
  parameters.epoch = kSmallEpoch;
  parameters.daemon_version = "fuzzed";
  parameters.base_generation = kSmallBaseGeneration;
  parameters.hash_seed = kSmallHashSeed;
  parameters.index_capacity = kSmallIndexCapacity;
  parameters.record_bytes = 3 << 10;

  SmallSegment segment;
  segment.versions = history();
  segment.arena = ExactBytes(shm::arena_file_bytes(parameters));
  shm::ArenaWriter writer(segment.arena.span(), parameters);
  std::uint64_t generation = kSmallBaseGeneration;
  for (const auto& version : segment.versions) {
    if (version.generation > generation) {
      if (generation == kSmallBaseGeneration) writer.seal();
      writer.publish_tail(generation);
      generation = version.generation;
    }
    segment.record_offsets.push_back(writer.tail());
    writer.store_slot(writer.append({.kind = version.kind,
                                     .key = version.key,
                                     .location = version.location,
                                     .generation = version.generation}));
  }
  writer.publish_tail(generation);

  auto draft = shm::ControlDraft::make(directory, control_id, small_store_uuid(),
                                       shm::make_root(kSmallEpoch, kSmallGeneration));
  fuzz_check(draft.ok(), "a control page is made", directory);
  auto placed = std::move(*draft).place(shm::ControlPlacement::kReplace);
  fuzz_check(placed.ok(), "a control page is placed", directory);
  segment.control = ExactBytes(placed->bytes());
  std::filesystem::remove(directory + "/" + shm::kControlName);
  return segment;
}

const Version* true_version(const SmallSegment& segment, std::string_view key,
                            std::uint64_t generation) noexcept {
  const Version* newest = nullptr;
  for (const auto& version : segment.versions) {
    if (version.key == key && version.generation <= generation) newest = &version;
  }
  return newest != nullptr && shm::is_tombstone(newest->kind) ? nullptr : newest;
}

}  // namespace iceblink::test
