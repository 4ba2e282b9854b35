// How a process comes to a mapping where the page it began with is not the page any more.
#include "shm/attachment.h"

#include <fstream>
#include <set>
#include <thread>

#include "shm/control_page.h"
#include "shm/futex.h"
#include "shm/segment.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using testing::MemoryStore;
using testing::TempDir;
namespace fs = std::filesystem;

class AttachmentTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(store_.start(dir_.path())); }

  [[nodiscard]] std::string path(const std::string& name) const { return dir_.path() + "/" + name; }
  /// The page that is there now, as a reader holds it.
  [[nodiscard]] std::shared_ptr<const ControlMapping> hold_page() const {
    auto file = ReadMapping::open(path("control"));
    EXPECT_TRUE(file.ok());
    auto page = std::make_shared<ControlMapping>(ControlMapping{std::move(*file), nullptr});
    page->page = reinterpret_cast<const ControlPage*>(page->file.bytes().data());
    return page;
  }
  /// The epoch of what is attached to, or the error.
  [[nodiscard]] std::string attach(std::shared_ptr<const ControlMapping> page) const {
    Attachment attachment(dir_.path(), std::move(page));
    const auto mapping = attachment.run(std::chrono::nanoseconds::zero());
    if (!mapping) return mapping.error().message();
    EXPECT_EQ(attachment.state(), AttachState::kAttached);
    return "epoch " + std::to_string((*mapping)->epoch);
  }
  void put_word(const std::string& name, std::size_t offset, std::uint64_t word) const {
    std::fstream file(path(name), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(offset));
    file.write(reinterpret_cast<const char*>(&word), sizeof(word));
  }
  /// Another segment's files in the place of these.
  void replace_files() {
    store_.stop();
    for (const auto& entry : fs::directory_iterator(dir_.path())) fs::remove(entry.path());
    ASSERT_OK(store_.start(dir_.path()));
  }

  const TempDir dir_;
  MemoryStore store_;
};

TEST_F(AttachmentTest, EveryStateHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (const auto state :
       {AttachState::kOpeningControl, AttachState::kCheckingControl, AttachState::kReadingRoot,
        AttachState::kOpeningArena, AttachState::kCheckingArena, AttachState::kAttached}) {
    names.insert(to_string(state));
  }
  EXPECT_EQ(names.size(), 6U);
}

TEST_F(AttachmentTest, ARetiredPageLeadsToItsSuccessor) {
  const auto page = hold_page();
  store_.options.on_foreign_control = PublisherOptions::OnForeignControl::kReplace;
  put_word("control", offsetof(ControlPage, checksum), 1);
  ASSERT_OK(store_.start(dir_.path()));
  EXPECT_EQ(page->page->root.load(), kRetired);
  EXPECT_EQ(attach(page), "epoch 2");
}

TEST_F(AttachmentTest, ARetiredPageWithoutASuccessorIsNoSegment) {
  store_.stop();
  put_word("control", offsetof(ControlPage, root), kRetired);
  EXPECT_NE(attach(nullptr).find("was retired, and has no successor yet"), std::string::npos);
}

TEST_F(AttachmentTest, AnotherPagesArenaUnderTheSameNameLeadsToThatPage) {
  const auto page = hold_page();
  replace_files();
  EXPECT_EQ(attach(page), "epoch 1");
}

TEST_F(AttachmentTest, AnArenaThatIsGoneWithItsPageLeadsToTheNewPage) {
  ASSERT_OK(store_.publisher().flip());
  const auto page = hold_page();
  replace_files();
  EXPECT_EQ(attach(page), "epoch 1");
}

TEST_F(AttachmentTest, AnArenaThatIsNotThePagesIsSaidToBelongToAnother) {
  store_.stop();
  const TempDir other;
  MemoryStore others;
  ASSERT_OK(others.start(other.path()));
  fs::copy(other.path() + "/arena.1", path("arena.1"), fs::copy_options::overwrite_existing);
  EXPECT_NE(attach(nullptr).find("belongs to another control page or epoch"), std::string::npos);
}

TEST_F(AttachmentTest, AGenerationThatNoArenaHasIsNotServed) {
  store_.stop();
  put_word("control", offsetof(ControlPage, root), make_root(1, 99));
  EXPECT_NE(attach(nullptr).find("names generation 99"), std::string::npos);
}

TEST_F(AttachmentTest, WaitsForAPageUntilTheDeadline) {
  const TempDir later;
  MemoryStore store;
  std::thread starter([&] { ASSERT_OK(store.start(later.path())); });
  const auto segment = Segment::attach(later.path(), std::chrono::seconds(30));
  starter.join();
  EXPECT_TRUE(segment.ok());
}

TEST_F(AttachmentTest, AnArenaThatIsNoFileIsNotServed) {
  store_.stop();
  fs::remove(path("arena.1"));
  fs::create_directory(path("arena.1"));
  EXPECT_NE(attach(nullptr).find("arena.1: is not a regular file"), std::string::npos);
}

TEST_F(AttachmentTest, APageThatCannotBeLookedAtCountsAsItself) {
  const auto page = hold_page();
  store_.stop();
  put_word("control", offsetof(ControlPage, root), kRetired);
  fs::remove(path("control"));
  fs::create_symlink("control", path("control"));  // leads nowhere, and is no missing file
  EXPECT_NE(attach(page).find("has no successor yet"), std::string::npos) << attach(page);
}

TEST_F(AttachmentTest, ADeadlineStaysWithinTheClock) {
  using Clock = Attachment::Clock;
  EXPECT_EQ(Attachment::deadline_after(std::chrono::nanoseconds::max()), Clock::time_point::max());
  const auto passed = Attachment::deadline_after(std::chrono::nanoseconds(-1));
  EXPECT_LE(passed, Clock::now());
}

TEST_F(AttachmentTest, ASignOfLifeFromTheFutureHasNoAge) {
  const auto segment = Segment::attach(dir_.path(), std::chrono::milliseconds(0));
  ASSERT_OK(segment);
  put_word("control", offsetof(ControlPage, heartbeat_ns), ~std::uint64_t{0});
  EXPECT_EQ((*segment)->health().heartbeat_age, std::chrono::nanoseconds(0));
}

TEST_F(AttachmentTest, AWaitOfNoTimeDoesNotWait) {
  const auto page = hold_page();
  wait_for_root(page->page->root, page->page->root.load(), std::chrono::nanoseconds(0));
  wait_for_root(page->page->root, page->page->root.load(), std::chrono::nanoseconds(-1));
}

}  // namespace
}  // namespace iceblink::shm
