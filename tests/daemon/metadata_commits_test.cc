// How commits of metadata end when there is no more time for them.
#include "daemon/metadata_commits.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <future>

#include "iceberg/commit/commit_request.h"
#include "shm/publisher.h"
#include "tests/daemon/catalog_fixture.h"

namespace iceblink::daemon {
namespace {

using ::testing::HasSubstr;

class MetadataCommitsTest : public ::testing::Test {
 protected:
  MetadataCommitsTest() {
    std::filesystem::create_directory(dir_ / "run");
    store_ = open_store(dir_ / "data");
    shm::PublisherOptions publishing;
    publishing.runtime_dir = dir_ / "run";
    publishing.store_uuid = store_->store_uuid();
    publishing.hash_seed = store_->hash_seed();
    publishing.incarnation = store_->incarnation();
    publishing.daemon_version = "test";
    publisher_ = std::move(shm::Publisher::open(publishing)).value();
    EXPECT_TRUE(publisher_->start(*read(*store_), store_->incarnation()).ok());
    committer_ = std::make_unique<Committer>(*store_, *publisher_, CommitterOptions{});
    MetadataCommitsOptions options;
    options.warehouse = dir_ / "warehouse";
    options.threads = 1;
    commits_ = std::make_unique<MetadataCommits>(*store_, *committer_, MetadataFileRules{}, roots_,
                                                 std::move(options));
  }

  /// A creation in a namespace that is not there.
  static std::vector<MetadataChange> change() {
    auto request =
        iceberg::parse_table_creation(R"({"name":"t","schema":{"type":"struct","fields":[]}})");
    EXPECT_TRUE(request.ok());
    return {{{{"nobody"}, "t"}, std::move(*request)}};
  }
  static std::string said(const ChangesAnswer& answer) {
    const auto* const refused = std::get_if<Refused>(&answer);
    return refused == nullptr ? "done" : std::string(refused->error.message());
  }

  test::ScratchDir dir_;
  WriteRoots roots_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<shm::Publisher> publisher_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<MetadataCommits> commits_;
};

TEST_F(MetadataCommitsTest, CutOffTheyRefuseWhatHasNotGoneToTheWriterAndAllThatComes) {
  std::promise<void> begun;
  std::promise<void> released;
  // The only thread is held in the answer of the first, so that the second cannot begin.
  commits_->submit(change(), std::nullopt, [&](const ChangesAnswer& answer) {
    EXPECT_THAT(said(answer), HasSubstr("nobody"));
    begun.set_value();
    released.get_future().wait();
  });
  begun.get_future().wait();
  std::promise<std::string> waiting;
  commits_->submit(change(), std::nullopt,
                   [&](const ChangesAnswer& answer) { waiting.set_value(said(answer)); });
  EXPECT_EQ(commits_->busy_count(), 1u);
  EXPECT_EQ(commits_->queue_length(), 1u);
  EXPECT_EQ(commits_->cut_off(), 1u);
  EXPECT_EQ(waiting.get_future().get(), "the daemon is stopping");
  std::promise<std::string> late;
  commits_->submit(change(), std::nullopt,
                   [&](const ChangesAnswer& answer) { late.set_value(said(answer)); });
  EXPECT_EQ(late.get_future().get(), "the daemon is stopping");
  EXPECT_FALSE(commits_->end_until(std::chrono::steady_clock::now()));
  released.set_value();
  EXPECT_TRUE(commits_->end_until(std::chrono::steady_clock::now() + std::chrono::seconds(60)));
  EXPECT_EQ(commits_->cut_off(), 0u);
}

}  // namespace
}  // namespace iceblink::daemon
