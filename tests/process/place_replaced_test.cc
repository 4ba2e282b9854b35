#include <filesystem>
#include <thread>

#include "tests/process/reader_process.h"
#include "tests/process/world.h"

namespace iceblink::test {
namespace {

namespace fs = std::filesystem;

void clear(const std::string& directory) {
  for (const auto& entry : fs::directory_iterator(directory)) fs::remove_all(entry.path());
}

CatalogOptions quiet() {
  CatalogOptions options;
  options.ask_daemon = AskDaemon::kNever;
  return options;
}

/// Looks up until the answer is not `old`; the number of lookups it took, or -1.
int lookups_until_noticed(const Catalog& catalog, const TableIdent& ident, const std::string& old) {
  for (int i = 1; i <= 10'000; ++i) {
    const auto found = catalog.resolve_location(ident);
    if (!found || *found != old) return i;
  }
  return -1;
}

class PlaceReplaced : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(world_.start());
    Catalog writer = world_.open();
    ASSERT_OK(writer.create_namespace({"ns"}));
    ASSERT_OK(World::put(writer, t_, "s3://old"));
  }

  World world_;
  const TableIdent t_{{"ns"}, "t"};
};

TEST_F(PlaceReplaced, AReaderOfARemovedDirectorySaysThatItCannotAndFindsTheNewOne) {
  const Catalog reader = world_.open(quiet());
  for (int i = 0; i < 50'000; ++i) ASSERT_OK(reader.resolve_location(t_));  // a fast reader
  world_.kill_daemon();
  fs::remove_all(world_.runtime_dir());
  EXPECT_GT(lookups_until_noticed(reader, t_, "s3://old"), 0);
  const auto lost = reader.resolve_location(t_);
  ASSERT_FALSE(lost.ok());
  EXPECT_EQ(lost.error().kind(), ErrorKind::kNoSegment);
  EXPECT_NE(lost.error().message().find(world_.runtime_dir()), std::string::npos);

  fs::create_directory(world_.runtime_dir());
  ASSERT_TRUE(world_.start());
  const auto found = reader.resolve_location(t_);
  ASSERT_OK(found);
  EXPECT_EQ(*found, "s3://old");
}

TEST_F(PlaceReplaced, AReaderOfADirectoryThatWasMadeAnewAttachesAnew) {
  const Catalog reader = world_.open(quiet());
  for (int i = 0; i < 50'000; ++i) ASSERT_OK(reader.resolve_location(t_));
  const auto snapshot = reader.snapshot();
  ASSERT_OK(snapshot);
  world_.kill_daemon();
  clear(world_.runtime_dir());
  ASSERT_TRUE(world_.start());
  Catalog writer = world_.open();
  ASSERT_OK(World::put(writer, t_, "s3://new"));
  EXPECT_GT(lookups_until_noticed(reader, t_, "s3://old"), 0);
  const auto found = reader.resolve_location(t_);
  ASSERT_OK(found);
  EXPECT_EQ(*found, "s3://new");
  // A pinned generation stays what it was.
  const auto pinned = snapshot->find(t_);
  ASSERT_OK(pinned);
  ASSERT_TRUE(pinned->has_value());
  EXPECT_EQ((*pinned)->metadata_location(), "s3://old");
}

TEST_F(PlaceReplaced, ASlowReaderNoticesAtItsNextLookups) {
  const Catalog reader = world_.open(quiet());
  ASSERT_OK(reader.resolve_location(t_));
  world_.kill_daemon();
  clear(world_.runtime_dir());
  // In a thread of its own, which has not looked up before: how far checks are apart follows a
  // thread's pace.
  std::thread([&] {
    const int lookups = lookups_until_noticed(reader, t_, "s3://old");
    EXPECT_GT(lookups, 0);
    EXPECT_LE(lookups, 8);
  }).join();
}

TEST_F(PlaceReplaced, ADaemonOnAnOlderCopyGoesAboveWhatReadersSaw) {
  ASSERT_EQ(world_.stop_daemon(), 0);
  const std::string copy = world_.data_dir() + ".copy";
  fs::copy(world_.data_dir(), copy, fs::copy_options::recursive);
  ASSERT_TRUE(world_.start());
  Catalog writer = world_.open();
  for (int i = 0; i < 20; ++i) {
    ASSERT_OK(World::put(writer, t_, "s3://lost@" + std::to_string(i)));
  }
  const Catalog reader = world_.open(quiet());
  const auto seen = reader.generation();
  ASSERT_OK(seen);
  const auto token = reader.change_token();
  ASSERT_OK(token);
  ASSERT_EQ(world_.stop_daemon(), 0);
  fs::remove_all(world_.data_dir());
  fs::rename(copy, world_.data_dir());
  ASSERT_TRUE(world_.start());

  const auto found = reader.resolve_location(t_);
  ASSERT_OK(found);
  EXPECT_EQ(*found, "s3://old");
  const auto now = reader.generation();
  ASSERT_OK(now);
  EXPECT_GT(*now, *seen);
  // No feed runs over the seam.
  const auto changes = reader.changes_since(*token);
  ASSERT_FALSE(changes.ok());
  EXPECT_EQ(changes.error().kind(), ErrorKind::kGone);
}

TEST_F(PlaceReplaced, AWaiterOfARemovedPlaceEndsWithAClearError) {
  const Catalog reader = world_.open(quiet());
  const auto generation = reader.generation();
  ASSERT_OK(generation);
  world_.kill_daemon();
  clear(world_.runtime_dir());
  const auto waited = reader.wait_for_change(*generation, std::chrono::seconds(60));
  ASSERT_FALSE(waited.ok());
  EXPECT_EQ(waited.error().kind(), ErrorKind::kNoSegment);
}

}  // namespace
}  // namespace iceblink::test
