#include "tests/faults/store_judge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>

#include "iceberg/fingerprint.h"
#include "tests/daemon/catalog_fixture.h"

namespace iceblink::test {
namespace {

constexpr std::size_t kLockFileBytes = 65664;

std::string key_of(shm::RecordKind kind, std::string_view key) {
  return std::to_string(static_cast<int>(kind)) + std::string(key);
}

Pointers pointers_of(const daemon::Store::Reading& reading) {
  Pointers pointers;
  const auto status = reading.for_each([&](const shm::Change& row) -> Status {
    pointers[key_of(row.kind, row.key)] = row.location;
    return Ok{};
  });
  EXPECT_TRUE(status.ok()) << status.error().message();
  return pointers;
}

void put_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace

History::History(const std::string& data_dir) {
  pointers_[1] = {};
  const auto store = daemon::open_store(data_dir);
  const auto reading = daemon::read(*store);
  std::uint64_t since = 1;
  for (;;) {
    const auto changes = reading->changes_since(since, 1000);
    EXPECT_TRUE(changes.ok()) << changes.error().message();
    if (!changes || changes->empty()) break;
    for (const daemon::LoggedChange& change : *changes) {
      auto [at, is_new] = pointers_.try_emplace(change.generation);
      if (is_new) at->second = std::prev(at)->second;
      if (change.kind == shm::RecordKind::kTombstone) {
        for (const auto kind :
             {shm::RecordKind::kNamespace, shm::RecordKind::kTable, shm::RecordKind::kView}) {
          at->second.erase(key_of(kind, change.key));
        }
      } else {
        at->second[key_of(change.kind, change.key)] = change.row.location;
      }
      since = change.generation;
    }
  }
  EXPECT_EQ(pointers_.rbegin()->second, pointers_of(*reading)) << "the log is not the catalog's";
}

const Pointers* History::at(std::uint64_t generation) const {
  const auto found = pointers_.find(generation);
  return found == pointers_.end() ? nullptr : &found->second;
}

void StoreJudge::lay_out(const std::string& store, std::uint64_t noise) const {
  const std::string directory = scratch_dir_ + "/lmdb";
  std::filesystem::create_directories(directory);
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    std::filesystem::remove(file);
  }
  put_bytes(directory + "/data.mdb", store);
  if (noise % 3 == 1) put_bytes(directory + "/lock.mdb", std::string(kLockFileBytes, '\0'));
  if (noise % 3 == 2) {
    std::string bytes(kLockFileBytes, '\0');
    for (char& byte : bytes)
      byte = static_cast<char>((noise = noise * 6364136223846793005 + 1) >> 56);
    put_bytes(directory + "/lock.mdb", bytes);
  }
}

std::string StoreJudge::judge_pointer(const DiskImage& image, const shm::Change& row) const {
  if (row.kind == shm::RecordKind::kNamespace || !row.location.starts_with(data_dir_)) return {};
  const std::string* const bytes = image.find(std::string(row.location));
  if (bytes == nullptr)
    return "a pointer to a file that is not there: " + std::string(row.location);
  if (iceberg::fingerprint_of(std::as_bytes(std::span(*bytes))) == row.metadata_fingerprint)
    return {};
  return "a pointer to a file that is not whole: " + std::string(row.location);
}

std::string StoreJudge::judge_store(const DiskImage& image, std::uint64_t seen_generation) const {
  daemon::StoreOptions options;
  options.data_dir = scratch_dir_;
  options.map_bytes = std::uint64_t{1} << 26;
  const auto store = daemon::Store::open(options);
  if (!store) return "does not open: " + store.error().message();
  const auto reading = (*store)->read();
  if (!reading) return "cannot be read: " + reading.error().message();
  const std::uint64_t generation = (*reading)->generation();
  if (generation < seen_generation) return "is at generation " + std::to_string(generation);
  const Pointers* const expected = history_.at(generation);
  if (expected == nullptr) return "has generation " + std::to_string(generation) + " in parts";
  if (pointers_of(**reading) != *expected) {
    return "has other pointers at generation " + std::to_string(generation);
  }
  std::string wrong;
  const auto status = (*reading)->for_each([&](const shm::Change& row) -> Status {
    if (wrong.empty()) wrong = judge_pointer(image, row);
    return Ok{};
  });
  if (!status) return status.error().message();
  if (!wrong.empty()) return wrong;
  const auto changes = (*reading)->changes_since(1, 100'000);
  if (!changes) return "has no log: " + changes.error().message();
  const bool is_whole =
      changes->empty() ? generation == 1 : changes->back().generation == generation;
  return is_whole ? "" : "has a log that ends early";
}

std::string StoreJudge::judge(const DiskImage& image, std::uint64_t seen_generation,
                              std::uint64_t noise) const {
  const std::string* const store = image.find(data_dir_ + "/lmdb/data.mdb");
  if (store == nullptr) {
    // A new one will be made: nobody was told of anything in the old one.
    return seen_generation <= 1 ? "" : "the store is not there";
  }
  lay_out(*store, noise);
  const std::string wrong = judge_store(image, seen_generation);
  return wrong.empty() ? wrong : "the store " + wrong;
}

}  // namespace iceblink::test
