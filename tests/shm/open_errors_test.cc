// What is said of files that are not what they should be: a control page, an arena, a mapping.
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>

#include "shm/arena_view.h"
#include "shm/arena_writer.h"
#include "shm/control_page.h"
#include "shm/file_mapping.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using testing::TempDir;

template <typename T>
std::string outcome(const Result<T>& result) {
  return result.ok() ? "ok" : std::string(to_string(result.error().kind()));
}

/// What check_control says of a good page after `change`.
std::string control_after(const std::function<void(ControlPage&)>& change) {
  const TempDir dir;
  auto draft = ControlDraft::make(dir.path(), {1}, {2}, make_root(1, 1));
  EXPECT_TRUE(draft.ok());
  const auto placed = std::move(*draft).place(ControlPlacement::kNew);
  EXPECT_TRUE(placed.ok());
  auto& page = *reinterpret_cast<ControlPage*>(placed->bytes().data());
  change(page);
  const auto checked = check_control(placed->bytes(), "page");
  return checked.ok() ? "ok" : checked.error().message();
}

void seal(ControlPage& page) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&page);
  page.checksum = XXH3_64bits(bytes + 8, offsetof(ControlPage, checksum) - 8);
}

TEST(ControlPage, SaysWhyItIsRefused) {
  EXPECT_EQ(control_after([](auto&) {}), "ok");
  const auto say = [](const std::function<void(ControlPage&)>& change, const char* why) {
    EXPECT_NE(control_after(change).find(why), std::string::npos) << control_after(change);
  };
  say([](auto& page) { page.byte_order = 7; }, "another byte order");
  say([](auto& page) { page.layout_version = 9; },
      "layout version 9, this program reads version 1");
  say([](auto& page) { page.store_uuid[3] = 1; }, "checksum does not match");
  say(
      [](auto& page) {
        page.features_required = 6;
        seal(page);
      },
      "needs feature bits 6, this program knows 0");
}

TEST(ControlPage, ADraftCannotTakeANameThatIsTaken) {
  const TempDir dir;
  std::ofstream(dir.path() + "/control") << "x";
  auto draft = ControlDraft::make(dir.path(), {1}, {2}, make_root(1, 1));
  ASSERT_OK(draft);
  EXPECT_EQ(outcome(std::move(*draft).place(ControlPlacement::kNew)), "already_exists");
  EXPECT_EQ(outcome(ControlDraft::make(dir.path() + "/none", {1}, {2}, 0)), "not_found");
}

std::string arena_after(const std::function<void(ArenaHeader&)>& change, std::size_t cut = 0) {
  ArenaParameters parameters;
  parameters.epoch = 1;
  parameters.index_capacity = 64;
  parameters.record_bytes = 1024;
  std::vector<std::uint64_t> memory(arena_file_bytes(parameters) / 8);
  const std::span<std::byte> bytes{reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8};
  const ArenaWriter writer(bytes, parameters);
  auto& header = *reinterpret_cast<ArenaHeader*>(bytes.data());
  change(header);
  const auto view = ArenaView::open(bytes.first(bytes.size() - cut), "arena");
  return view.ok() ? "ok" : view.error().message();
}

void seal(ArenaHeader& header) {
  header.checksum = XXH3_64bits(&header, offsetof(ArenaHeader, checksum));
}

TEST(ArenaHeader, SaysWhyItIsRefused) {
  EXPECT_EQ(arena_after([](auto&) {}), "ok");
  const auto say = [](const std::function<void(ArenaHeader&)>& change, const char* why,
                      std::size_t cut = 0) {
    const std::string said = arena_after(change, cut);
    EXPECT_NE(said.find(why), std::string::npos) << said;
  };
  say([](auto& header) { header.magic = 1; }, "wrong magic");
  say([](auto& header) { header.byte_order = 1; }, "another byte order");
  say([](auto& header) { header.layout_version = 2; }, "layout version 2");
  say([](auto& header) { header.epoch = 2; }, "checksum does not match");
  say([](auto&) {}, "its header says", 8);
  say([](auto&) {}, "an arena has at least 4096 bytes", 8192 - 100);
  const auto say_sealed = [&](const std::function<void(ArenaHeader&)>& change, const char* why) {
    say(
        [&](auto& header) {
          change(header);
          seal(header);
        },
        why);
  };
  say_sealed([](auto& header) { header.features_required = 2; }, "needs feature bits 2");
  constexpr const char* kContradiction = "offsets contradict each other";
  say_sealed([](auto& header) { header.index_offset += 8; }, kContradiction);
  say_sealed([](auto& header) { header.index_capacity = 0; }, kContradiction);
  say_sealed([](auto& header) { header.index_capacity = ~0ULL; }, kContradiction);
  say_sealed([](auto& header) { header.sums_offset += 8; }, kContradiction);
  say_sealed([](auto& header) { header.records_offset += 8; }, kContradiction);
  say_sealed([](auto& header) { header.base_copy_end = 8; }, kContradiction);
  say_sealed([](auto& header) { header.base_copy_end = header.file_bytes + 8; }, kContradiction);
}

TEST(Mapping, SaysWhatIsInItsPlace) {
  const TempDir dir;
  const std::string path = dir.path() + "/file";
  EXPECT_EQ(outcome(ReadMapping::open(path)), "not_found");
  EXPECT_EQ(outcome(identity_of(path)), "not_found");
  EXPECT_EQ(outcome(ReadMapping::open(dir.path())), "corrupt");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(outcome(ReadMapping::open(path)), "corrupt");
  std::filesystem::remove(path);
  std::ofstream(path).flush();
  EXPECT_EQ(outcome(ReadMapping::open(path)), "corrupt");
  EXPECT_EQ(outcome(WriteMapping::open(path, 4096)), "corrupt");
  EXPECT_EQ(outcome(WriteMapping::create(path, 4096)), "already_exists");
}

TEST(Mapping, AFileIsItselfOnItsOwnDeviceAlone) {
  const TempDir dir;
  std::ofstream(dir.path() + "/file") << "x";
  const auto file = identity_of(dir.path() + "/file");
  ASSERT_OK(file);
  EXPECT_TRUE(*file ==
              *identity_of(dir.path() + "/../" +
                           std::filesystem::path(dir.path()).filename().string() + "/file"));
  EXPECT_FALSE(*file == *identity_of(dir.path()));
  EXPECT_FALSE(*file == *identity_of("/proc/self/status"));
}

TEST(Mapping, IsNotMadeWhereThereIsNoDirectory) {
  const TempDir dir;
  EXPECT_EQ(outcome(WriteMapping::create(dir.path() + "/none/file", 4096)), "not_found");
}

TEST(Mapping, ALargeOneLiesWhereItCanHaveHugePages) {
  constexpr std::uintptr_t kHugePageBytes = 2 << 20;
  const TempDir dir;
  const auto written = WriteMapping::create(dir.path() + "/file", 2 * kHugePageBytes + 4096);
  ASSERT_OK(written);
  const auto read = ReadMapping::open(dir.path() + "/file");
  ASSERT_OK(read);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(written->bytes().data()) % kHugePageBytes, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(read->bytes().data()) % kHugePageBytes, 0U);
  EXPECT_EQ(read->bytes().size(), written->bytes().size());
}

TEST(Mapping, ALargeOneIsLetGoOfInSlices) {
  const TempDir dir;
  auto mapping = WriteMapping::create(dir.path() + "/file", 9 << 20);
  ASSERT_OK(mapping);
  mapping->unmap();
  EXPECT_EQ(mapping->bytes().size(), 0U);
}

TEST(SystemError, SaysWhatAnErrorMeansHere) {
  for (const auto& [number, kind] : {std::pair{ENOENT, ErrorKind::kNotFound},
                                     {ENOTDIR, ErrorKind::kNotFound},
                                     {EACCES, ErrorKind::kNotAllowed},
                                     {EPERM, ErrorKind::kNotAllowed},
                                     {EROFS, ErrorKind::kNotAllowed},
                                     {ENOSPC, ErrorKind::kNoSpace},
                                     {EDQUOT, ErrorKind::kNoSpace},
                                     {EFBIG, ErrorKind::kNoSpace},
                                     {EEXIST, ErrorKind::kAlreadyExists},
                                     {ENOMEM, ErrorKind::kOutOfMemory},
                                     {EIO, ErrorKind::kIo}}) {
    const Error error = system_error("the thing", number);
    EXPECT_EQ(error.kind(), kind) << number;
    EXPECT_TRUE(error.message().starts_with("the thing: ")) << error.message();
  }
}

}  // namespace
}  // namespace iceblink::shm
