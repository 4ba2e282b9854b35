#include "client/cache/s3_fifo.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

namespace iceblink::client::cache {
namespace {

/// A set of nodes with marks, as a cache of `bytes_max` would have them.
class Nodes {
 public:
  explicit Nodes(std::size_t bytes_max)
      : bytes_max_(bytes_max), queue_(bytes_max, {.small_share = 0.1, .marks_to_stay = 1}) {
    queue_.fit_ghosts(1024);
  }
  /// True: it was there.
  bool use(std::uint64_t key, std::size_t bytes = 10) {
    if (const auto there = nodes_.find(key); there != nodes_.end()) {
      ++marks_[key];
      return true;
    }
    while (bytes_ + bytes > bytes_max_) EXPECT_TRUE(evict().has_value());
    QueueNode& node = nodes_[key];
    node.hash = key * 0x9e3779b97f4a7c15;
    node.weight_bytes = bytes;
    keys_[&node] = key;
    bytes_ += bytes;
    queue_.insert(node);
    return false;
  }
  std::optional<std::uint64_t> evict() {
    QueueNode* node = queue_.evict([&](QueueNode& each) {
      const unsigned marks = marks_[keys_[&each]];
      marks_[keys_[&each]] = 0;
      return marks;
    });
    if (node == nullptr) return std::nullopt;
    const std::uint64_t key = keys_[node];
    bytes_ -= node->weight_bytes;
    keys_.erase(node);
    nodes_.erase(key);
    return key;
  }
  [[nodiscard]] bool has(std::uint64_t key) const { return nodes_.contains(key); }
  [[nodiscard]] const QueueNode& node(std::uint64_t key) { return nodes_[key]; }

 private:
  const std::size_t bytes_max_;
  S3Fifo queue_;
  std::map<std::uint64_t, QueueNode> nodes_;
  std::map<const QueueNode*, std::uint64_t> keys_;
  std::map<std::uint64_t, unsigned> marks_;
  std::size_t bytes_ = 0;
};

TEST(S3Fifo, EvictsInOrderWhatWasUsedOnce) {
  Nodes nodes(100);
  for (std::uint64_t key = 1; key <= 10; ++key) nodes.use(key);
  for (std::uint64_t key = 1; key <= 10; ++key) EXPECT_EQ(nodes.evict(), key);
  EXPECT_EQ(nodes.evict(), std::nullopt);
}

TEST(S3Fifo, KeepsWhatIsUsedThroughAScanOfTenTimesItsSize) {
  Nodes nodes(1000);
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t key = 1; key <= 50; ++key) nodes.use(key);
  }
  for (std::uint64_t key = 1000; key < 2000; ++key) nodes.use(key);
  for (std::uint64_t key = 1; key <= 50; ++key) EXPECT_TRUE(nodes.has(key)) << key;
}

TEST(S3Fifo, PutsWhatComesBackSoonIntoMain) {
  Nodes nodes(100);
  nodes.use(1);
  for (std::uint64_t key = 2; key <= 11; ++key) nodes.use(key);
  EXPECT_FALSE(nodes.has(1));
  nodes.use(1);
  EXPECT_EQ(nodes.node(1).queue, Queue::kMain);
  EXPECT_EQ(nodes.node(11).queue, Queue::kSmall);
}

TEST(S3Fifo, ForgetsWhatWentLongAgo) {
  Nodes nodes(1000 * 256);
  nodes.use(1, 256);
  for (std::uint64_t key = 2; key <= 3000; ++key) nodes.use(key, 256);
  EXPECT_FALSE(nodes.has(1));
  nodes.use(1, 256);
  EXPECT_EQ(nodes.node(1).queue, Queue::kSmall);
}

TEST(S3Fifo, EvictsUnusedOfMainBeforeUsed) {
  Nodes nodes(100);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t key = 1; key <= 6; ++key) nodes.use(key);
  }
  EXPECT_EQ(nodes.evict(), 1U) << "all but the last went to main, and none was used since";
  nodes.use(2);
  nodes.use(3);
  for (const std::uint64_t key : {4U, 5U, 2U, 3U, 6U}) EXPECT_EQ(nodes.evict(), key);
}

TEST(S3Fifo, EndsThoughAllAreMarkedAgainWhileItLooks) {
  S3Fifo queue(100);
  std::vector<QueueNode> nodes(5);
  for (auto& node : nodes) {
    node.weight_bytes = 10;
    queue.insert(node);
  }
  EXPECT_NE(queue.evict([](QueueNode&) { return kMarksMax; }), nullptr);
}

TEST(S3Fifo, CountsAWeightThatChanges) {
  S3Fifo queue(100);
  QueueNode node;
  node.weight_bytes = 10;
  queue.insert(node);
  queue.reweigh(node, 90);
  EXPECT_EQ(node.weight_bytes, 90U);
  EXPECT_EQ(queue.evict([](QueueNode&) { return 0U; }), &node);
}

TEST(GhostTable, RemembersWithinItsWindowOnly) {
  GhostTable ghosts;
  ghosts.fit(64);
  ghosts.remember(0x1234567800000001, 1024);
  EXPECT_FALSE(ghosts.take(0x1234567a00000001, 4096));
  EXPECT_TRUE(ghosts.take(0x1234567800000001, 4096));
  EXPECT_FALSE(ghosts.take(0x1234567800000001, 4096)) << "it was taken";
  ghosts.remember(0x1234567800000001, 1024);
  ghosts.remember(0x5555555500000002, 8192);
  EXPECT_FALSE(ghosts.take(0x1234567800000001, 4096));
}

}  // namespace
}  // namespace iceblink::client::cache
