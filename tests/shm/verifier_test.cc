#include "shm/verifier.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "shm/arena_view.h"
#include "shm/file_mapping.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using testing::MemoryStore;
using testing::table;
using testing::TempDir;

std::vector<std::uint64_t> words_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  return words;
}

/// A small arena with every kind of record in it, as plain bytes; its control page lies beside.
std::vector<std::uint64_t> small_arena(const TempDir& dir) {
  MemoryStore store;
  store.options.headroom_bytes_min = 4 << 10;
  EXPECT_TRUE(store.start(dir.path()).ok());
  const auto change = [&](const std::string& suffix) {
    store.put_namespace({"a" + suffix});
    store.put_namespace({"a" + suffix, "b"});
    for (int i = 0; i < 4; ++i) {
      store.put_table(table({"a" + suffix}, "t" + std::to_string(i)), "s3://bucket/" + suffix);
    }
    store.put(encode(table({"a" + suffix}, "v")), RecordKind::kView, "view");
    EXPECT_TRUE(store.commit().ok());
    store.drop_table(table({"a" + suffix}, "t1"));
    store.put_table(table({"a" + suffix}, "t2"), "moved");
    store.drop_namespace({"a" + suffix, "b"});
    EXPECT_TRUE(store.commit().ok());
  };
  change("x");
  EXPECT_TRUE(store.publisher().flip().ok());  // so that there is a base copy
  change("y");
  const std::string path = dir.path() + "/arena." + std::to_string(store.publisher().stats().epoch);
  store.stop();
  return words_of(path);
}

TEST(Verifier, FindsEveryFlippedByteAndLookupsNeverCrash) {
  const TempDir dir;
  std::vector<std::uint64_t> words = small_arena(dir);
  const std::span<std::byte> bytes{reinterpret_cast<std::byte*>(words.data()), words.size() * 8};
  alignas(64) std::array<std::uint64_t, kControlBytes / 8> control{};
  std::ranges::copy(words_of(dir.path() + "/control"), control.begin());
  const auto* page = reinterpret_cast<const ControlPage*>(control.data());
  const auto sound = verify_arena(bytes, "arena", page);
  ASSERT_TRUE(sound.problems.empty()) << sound.problems.front();
  ASSERT_TRUE(sound.complete);
  ASSERT_GT(sound.record_count, 14U);

  // Of the room behind the records, which is large, only some.
  const auto tail = ArenaView::open(bytes, "arena")->published_tail();
  constexpr std::size_t kStepInFreeRoom = 61;
  std::size_t answers = 0;
  for (std::size_t i = 0; i < bytes.size(); i += i < tail ? 1 : kStepInFreeRoom) {
    for (const auto pattern : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
      bytes[i] ^= pattern;
      ASSERT_FALSE(verify_arena(bytes, "arena", page).problems.empty())
          << "byte " << i << " of " << bytes.size();
      if (const auto view = ArenaView::open(bytes, "arena")) {
        for (const std::string ns : {"ax", "ay"}) {
          for (const std::uint64_t generation : {0, 3, 4, 5, 99}) {
            for (int t = 0; t < 5; ++t) {
              const std::string key = encode(table({ns}, "t" + std::to_string(t)));
              const Found found =
                  view->find(EncodedKey{key}, hash_encoded(key, view->hash_seed()), generation);
              answers += found.status == FindStatus::kFound ? found.record.location().size() : 1;
            }
            static_cast<void>(view->visit_tables(ns, generation, [&](const RecordView& record) {
              answers += record.location().size();
            }));
          }
        }
        static_cast<void>(view->visit_namespaces(
            "", 99, [&](const RecordView& record) { answers += record.key().size(); }));
        static_cast<void>(
            view->visit_changes(view->published_tail(),
                                [&](const RecordView& record) { answers += record.key().size(); }));
      }
      bytes[i] ^= pattern;
    }
  }
  EXPECT_GT(answers, 0U);
}

TEST(Verifier, NamesTheFileThatIsMissing) {
  const TempDir dir;
  const auto report = verify_segment(dir.path());
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems[0].find(dir.path() + "/control"), std::string::npos);
}

TEST(Verifier, ChecksReservedBytesOfTheControlPage) {
  const TempDir dir;
  MemoryStore store;
  ASSERT_OK(store.start(dir.path()));
  store.stop();
  std::fstream file(dir.path() + "/control", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(1000);
  file.put('x');
  file.close();
  const auto report = verify_segment(dir.path());
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems[0].find("reserved"), std::string::npos);
}

TEST(Verifier, SaysWhatIsWrongWithAControlPage) {
  alignas(64) std::array<std::byte, kControlBytes> bytes{};
  const auto report = verify_control(bytes, "page");
  ASSERT_EQ(report.problems.size(), 1U);
  EXPECT_NE(report.problems[0].find("page: "), std::string::npos);
}

TEST(Verifier, AnOptionalAdditionMayUseReservedBytesOfTheControlPage) {
  const TempDir dir;
  MemoryStore store;
  ASSERT_OK(store.start(dir.path()));
  auto mapping = WriteMapping::open(dir.path() + "/control", kControlBytes);
  ASSERT_OK(mapping);
  auto& page = *reinterpret_cast<ControlPage*>(mapping->bytes().data());
  page.reserved_1[7] = 1;
  page.features_optional = 2;
  page.checksum = XXH3_64bits(mapping->bytes().data() + 8, offsetof(ControlPage, checksum) - 8);
  EXPECT_TRUE(verify_segment(dir.path()).problems.empty());
}

}  // namespace
}  // namespace iceblink::shm
