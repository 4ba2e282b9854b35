#include "daemon/committer.h"

#include <gmock/gmock.h>
#include <prometheus/metric_family.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <csignal>
#include <filesystem>
#include <future>
#include <limits>
#include <semaphore>
#include <set>
#include <thread>
#include <utility>

#include "shm/publisher.h"
#include "tests/daemon/catalog_fixture.h"
#include "tests/daemon/tampered_store.h"

namespace iceblink::daemon {
namespace {

using ::testing::HasSubstr;

std::string said(const CommitAnswer& answer) {
  if (const auto* const committed = std::get_if<Committed>(&answer)) {
    return "done at " + std::to_string(committed->generation);
  }
  const auto& refused = std::get<Refused>(answer);
  return std::to_string(refused.operation_index) + " " +
         std::string(to_string(refused.error.kind())) + ": " + refused.error.message();
}

class CommitterTest : public ::testing::Test {
 protected:
  CommitterTest() {
    std::filesystem::create_directory(dir_ / "run");
    open({});
  }

  void open(StoreOptions options) {
    committer_.reset();
    publisher_.reset();
    store_.reset();
    store_ = std::make_unique<TamperedStore>(open_store(dir_ / "data", std::move(options)));
    shm::PublisherOptions publishing;
    publishing.runtime_dir = dir_ / "run";
    publishing.store_uuid = store_->store_uuid();
    publishing.hash_seed = store_->hash_seed();
    publishing.incarnation = store_->incarnation();
    publishing.daemon_version = "test";
    auto publisher = shm::Publisher::open(publishing);
    if (!publisher) throw std::runtime_error(publisher.error().message());
    publisher_ = std::move(publisher).value();
    const auto started = publisher_->start(*read(*store_), store_->incarnation());
    if (!started) throw std::runtime_error(started.error().message());
    start({});
  }
  void start(CommitterOptions options) {
    committer_.reset();
    committer_ = std::make_unique<Committer>(*store_, *publisher_, std::move(options));
  }

  std::future<CommitAnswer> submit(std::vector<Operation> operations) {
    return submit(Submission{std::move(operations), std::nullopt});
  }
  std::future<CommitAnswer> submit(Submission submission) {
    auto promise = std::make_shared<std::promise<CommitAnswer>>();
    auto future = promise->get_future();
    committer_->submit(std::move(submission),
                       [promise](CommitAnswer answer) { promise->set_value(std::move(answer)); });
    return future;
  }
  std::optional<StoredAnswer> stored_answer() {
    IdempotencyKey key{};
    key[0] = 1;
    auto found = read(*store_)->find_answer(key, 0);
    if (!found) throw std::runtime_error(found.error().message());
    return *found;
  }
  std::string run(std::vector<Operation> operations) {
    return said(submit(std::move(operations)).get());
  }

  /// Makes the committer wait in its next commit, of a namespace `gate`, so that what is
  /// submitted meanwhile becomes one group.
  void hold() {
    store_->before_commit = [this](const auto& changes) -> Status {
      if (changes.size() == 1 && changes[0].key == "gate") {
        holding_.release();
        go_on_.acquire();
      }
      return then_ ? then_(changes) : Status(Ok{});
    };
    gate_ = submit({CreateNamespace{{"gate"}, {}}});
    holding_.acquire();
  }
  void go_on() {
    go_on_.release();
    EXPECT_THAT(said(gate_.get()), HasSubstr("done"));
  }

  test::ScratchDir dir_;
  std::unique_ptr<TamperedStore> store_;
  std::unique_ptr<shm::Publisher> publisher_;
  std::function<Status(const std::vector<LoggedChange>&)> then_;
  std::binary_semaphore holding_{0};
  std::binary_semaphore go_on_{0};
  std::future<CommitAnswer> gate_;
  std::unique_ptr<Committer> committer_;  // last: ends first
};

Submission keyed(std::vector<Operation> operations, std::uint16_t status_of_refusals) {
  IdempotencyClaim claim;
  claim.key[0] = 1;
  claim.binding[0] = 2;
  claim.expires_at_ms = std::numeric_limits<std::int64_t>::max();
  claim.to_store = [status_of_refusals](const CommitAnswer& answer) {
    StoredAnswer stored;
    const auto* const committed = std::get_if<Committed>(&answer);
    stored.status = committed == nullptr ? status_of_refusals : 200;
    stored.text = committed == nullptr ? "" : std::to_string(committed->generation);
    return stored.status == 0 ? std::nullopt : std::optional(stored);
  };
  return {std::move(operations), std::move(claim)};
}

TEST_F(CommitterTest, StoresAnAnswerWithItsEffect) {
  const std::uint64_t before = publisher_->published_generation();
  EXPECT_THAT(said(submit(keyed({CreateNamespace{{"a"}, {}}}, 409)).get()), HasSubstr("done"));
  const auto stored = stored_answer();
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->status, 200);
  EXPECT_EQ(stored->text, std::to_string(before + 1));
  EXPECT_EQ(stored->binding[0], 2);
}

TEST_F(CommitterTest, StoresARefusalThatIsFinalAndMakesNoGenerationOfIt) {
  const std::uint64_t before = publisher_->published_generation();
  EXPECT_THAT(said(submit(keyed({Drop{{{"a"}, "none"}}}, 0)).get()), HasSubstr("not_found"));
  EXPECT_FALSE(stored_answer());
  EXPECT_THAT(said(submit(keyed({Drop{{{"a"}, "none"}}}, 404)).get()), HasSubstr("not_found"));
  ASSERT_TRUE(stored_answer());
  EXPECT_EQ(stored_answer()->status, 404);
  EXPECT_EQ(publisher_->published_generation(), before);
}

TEST_F(CommitterTest, AnswersWhenTheGenerationIsPublished) {
  const auto answer = submit({CreateNamespace{{"a"}, {}}}).get();
  ASSERT_TRUE(std::holds_alternative<Committed>(answer));
  EXPECT_EQ(std::get<Committed>(answer).generation, 2u);
  EXPECT_EQ(publisher_->published_generation(), 2u);
  EXPECT_EQ(publisher_->stats().namespace_count, 1u);
  EXPECT_EQ(run({registering({{"a"}, "t"}, "/t")}), "done at 3");
  EXPECT_EQ(publisher_->stats().table_count, 1u);
}

TEST_F(CommitterTest, WhatWaitsIsOneGeneration) {
  hold();
  std::vector<std::future<CommitAnswer>> answers;
  for (int i = 0; i < 50; ++i) {
    answers.push_back(submit({CreateNamespace{{"n" + std::to_string(i)}, {}}}));
  }
  EXPECT_EQ(committer_->stats().queue_length, 50u);
  go_on();
  for (auto& answer : answers) EXPECT_EQ(said(answer.get()), "done at 3");
  const auto stats = committer_->stats();
  EXPECT_EQ(stats.group_count, 2u);
  EXPECT_EQ(stats.commit_count, 51u);
  EXPECT_EQ(stats.queue_length, 0u);
}

TEST_F(CommitterTest, AGroupHasALimitButTakesOneListOfAnySize) {
  CommitterOptions options;
  options.group_operations_max = 3;
  start(options);
  hold();
  std::vector<Operation> large;
  for (int i = 0; i < 5; ++i) large.emplace_back(CreateNamespace{{"l" + std::to_string(i)}, {}});
  auto first = submit(large);
  auto second = submit({CreateNamespace{{"a"}, {}}, CreateNamespace{{"b"}, {}}});
  auto third = submit({CreateNamespace{{"c"}, {}}});
  auto fourth = submit({CreateNamespace{{"d"}, {}}});
  go_on();
  EXPECT_EQ(said(first.get()), "done at 3");
  EXPECT_EQ(said(second.get()), "done at 4");
  EXPECT_EQ(said(third.get()), "done at 4");
  EXPECT_EQ(said(fourth.get()), "done at 5");
}

TEST_F(CommitterTest, OneRefusedListDoesNotHarmTheOthersOfItsGroup) {
  hold();
  auto first = submit({CreateNamespace{{"a"}, {}}, registering({{"a"}, "t"}, "/t")});
  auto bad = submit({CreateNamespace{{"b"}, {}}, Drop{{{"a"}, "none"}}});
  auto last = submit({registering({{"a"}, "u"}, "/u")});
  go_on();
  EXPECT_EQ(said(first.get()), "done at 3");
  EXPECT_EQ(said(bad.get()), "1 not_found: Table does not exist: a.none");
  EXPECT_EQ(said(last.get()), "done at 3");
  EXPECT_FALSE(read(*store_)->find_namespace({"b"})->has_value());
  EXPECT_EQ(publisher_->stats().namespace_count, 2u);
  EXPECT_EQ(publisher_->stats().table_count, 2u);
  EXPECT_EQ(committer_->stats().refused_count, 1u);
}

TEST_F(CommitterTest, NoRefusalOvertakesThePublishOfWhatItWasJudgedBy) {
  hold();
  auto first = submit({CreateNamespace{{"a"}, {}}});
  std::promise<std::uint64_t> published;
  committer_->submit({{CreateNamespace{{"a"}, {}}}, std::nullopt}, [&](const CommitAnswer& answer) {
    EXPECT_EQ(said(answer), "0 already_exists: Namespace already exists: a");
    published.set_value(publisher_->published_generation());
  });
  go_on();
  EXPECT_EQ(published.get_future().get(), 3u);
  EXPECT_EQ(said(first.get()), "done at 3");
}

TEST_F(CommitterTest, AListThatChangesNothingMakesNoGeneration) {
  EXPECT_EQ(run({CreateNamespace{{"a"}, {}}}), "done at 2");
  EXPECT_EQ(run({UpdateProperties{{"a"}, {}, {}}}), "done at 2");
  EXPECT_EQ(run({}), "done at 2");
  EXPECT_EQ(publisher_->published_generation(), 2u);
  EXPECT_EQ(run({UpdateProperties{{"a"}, {}, {{"k", "v"}}}}), "done at 3");
}

TEST_F(CommitterTest, AFullQueueRefusesAtOnce) {
  CommitterOptions options;
  options.queue_length_max = 2;
  start(options);
  hold();
  auto first = submit({CreateNamespace{{"a"}, {}}});
  auto second = submit({CreateNamespace{{"b"}, {}}});
  EXPECT_EQ(run({CreateNamespace{{"c"}, {}}}), "0 busy: 2 commits are waiting");
  go_on();
  EXPECT_EQ(said(second.get()), "done at 3");
}

TEST_F(CommitterTest, GrowsTheMapUnderAGroup) {
  StoreOptions options;
  options.map_bytes = 128 << 10;
  open(options);
  ASSERT_EQ(run({CreateNamespace{{"a"}, {}}}), "done at 2");
  std::vector<Operation> operations;
  for (int i = 0; i < 2000; ++i) {
    operations.emplace_back(
        registering({{"a"}, "t" + std::to_string(i)}, "/" + std::string(500, 'x')));
  }
  EXPECT_EQ(run(operations), "done at 3");
  EXPECT_GT(store_->grow_count.load(std::memory_order_relaxed), 2);
  EXPECT_EQ(read(*store_)->list_tables({"a"}, {}, {})->items.size(), 2000u);
  EXPECT_EQ(publisher_->stats().table_count, 2000u);
}

TEST_F(CommitterTest, WhenAGroupDoesNotFitItsMembersAreTriedOneByOne) {
  hold();
  then_ = [](const std::vector<LoggedChange>& changes) -> Status {
    for (const auto& change : changes) {
      if (change.key == "huge") return {ErrorKind::kNoSpace, "the disk is full"};
    }
    return Ok{};
  };
  auto first = submit({CreateNamespace{{"a"}, {}}});
  auto huge = submit({CreateNamespace{{"huge"}, {}}});
  // Judged in the group it would be refused for what `huge` did, and that did not happen.
  auto below = submit({CreateNamespace{{"huge", "below"}, {}}});
  auto last = submit({CreateNamespace{{"b"}, {}}});
  go_on();
  EXPECT_EQ(said(first.get()), "done at 3");
  EXPECT_EQ(said(huge.get()), "0 no_space: the disk is full");
  EXPECT_EQ(said(below.get()), "0 not_found: Namespace does not exist: huge");
  EXPECT_EQ(said(last.get()), "done at 4");
  EXPECT_EQ(publisher_->published_generation(), 4u);
  EXPECT_EQ(publisher_->stats().namespace_count, 3u);
}

TEST_F(CommitterTest, FinishesWhatIsQueuedBeforeItEnds) {
  hold();
  auto waiting = submit({CreateNamespace{{"a"}, {}}});
  go_on_.release();
  committer_.reset();
  EXPECT_EQ(said(waiting.get()), "done at 3");
}

TEST_F(CommitterTest, SaysThatItIsThereWhileThereIsNothingToDo) {
  std::promise<void> thrice;
  CommitterOptions options;
  options.progress_period = std::chrono::milliseconds(1);
  options.on_progress = [&, count = 0]() mutable {
    if (++count == 3) thrice.set_value();
  };
  start(std::move(options));
  thrice.get_future().wait();
  committer_.reset();
}

// So that a commit that is stuck says nothing, and that no other thread speaks for it.
TEST_F(CommitterTest, SaysThatItGetsOnByItselfForEachListAndEachGroup) {
  std::promise<void> begun;
  std::promise<void> released;
  std::thread::id writer;
  std::set<std::thread::id> speakers;
  int count = 0;
  CommitterOptions options;
  options.progress_period = std::chrono::hours(1);
  options.on_progress = [&] {
    ++count;
    speakers.insert(std::this_thread::get_id());
  };
  start(std::move(options));
  store_->before_commit = [&, is_first = true](const auto&) mutable -> Status {
    writer = std::this_thread::get_id();
    if (std::exchange(is_first, false)) {
      begun.set_value();
      released.get_future().wait();
    }
    return Ok{};
  };
  std::vector<std::future<CommitAnswer>> answers;
  answers.push_back(submit({CreateNamespace{{"first"}, {}}}));
  begun.get_future().wait();
  for (int i = 0; i < 5; ++i) answers.push_back(submit({CreateNamespace{{std::to_string(i)}, {}}}));
  released.set_value();
  for (auto& answer : answers) answer.wait();
  committer_.reset();
  EXPECT_EQ(count, 1 + 1 + 5 + 1);
  EXPECT_THAT(speakers, ::testing::ElementsAre(writer));
}

TEST_F(CommitterTest, CountsASyncThatTookLong) {
  Metrics metrics;
  CommitterOptions options;
  options.metrics = &metrics;
  start(std::move(options));
  const auto slow_count = [&] {
    for (const auto& family : metrics.collect()) {
      if (family.name == "iceblink_slow_syncs_total") return family.metric.at(0).counter.value;
    }
    return -1.0;
  };
  EXPECT_EQ(said(submit({CreateNamespace{{"a"}, {}}}).get()), "done at 2");
  EXPECT_EQ(slow_count(), 0);
  store_->sync_time = std::chrono::seconds(2);
  EXPECT_EQ(said(submit({CreateNamespace{{"b"}, {}}}).get()), "done at 3");
  EXPECT_EQ(slow_count(), 1);
  committer_.reset();
}

TEST_F(CommitterTest, HurriedItFinishesWhatItHasInHandAndRefusesTheRest) {
  std::promise<void> begun;
  std::promise<void> released;
  store_->before_commit = [&](const auto&) -> Status {
    begun.set_value();
    released.get_future().wait();
    return Ok{};
  };
  auto in_hand = submit({CreateNamespace{{"a"}, {}}});
  begun.get_future().wait();
  auto queued = submit({CreateNamespace{{"b"}, {}}});
  committer_->hurry();
  released.set_value();
  committer_->stop();
  EXPECT_EQ(said(in_hand.get()), "done at 2");
  EXPECT_THAT(said(queued.get()), HasSubstr("the daemon is stopping"));
  EXPECT_THAT(said(submit({CreateNamespace{{"c"}, {}}}).get()), HasSubstr("stopping"));
}

TEST_F(CommitterTest, ManyThreadsLoseNoCompareAndSwap) {
  constexpr int kThreads = 64;
  constexpr int kRounds = 20;
  const TableIdent table{{"a"}, "t"};
  ASSERT_EQ(run({CreateNamespace{{"a"}, {}}, registering(table, "0")}), "done at 2");
  std::barrier begin(kThreads);
  std::atomic<int> lost{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      begin.arrive_and_wait();
      for (int round = 0; round < kRounds;) {
        const std::string at = location_of(*store_, table);
        auto answer = submit({overwriting(table, std::to_string(std::stoi(at) + 1), at)}).get();
        if (std::holds_alternative<Committed>(answer)) {
          ++round;
          EXPECT_GE(publisher_->published_generation(), std::get<Committed>(answer).generation);
        } else {
          EXPECT_EQ(std::get<Refused>(answer).refusal, Refusal::kCommitFailed);
          lost.fetch_add(1, std::memory_order_relaxed);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(location_of(*store_, table), std::to_string(kThreads * kRounds));
  EXPECT_EQ(committer_->stats().commit_count, 1u + kThreads * kRounds);
  EXPECT_EQ(committer_->stats().refused_count,
            static_cast<std::uint64_t>(lost.load(std::memory_order_relaxed)));
}

TEST_F(CommitterTest, ListsFromManyThreadsAreWholeInEveryGeneration) {
  constexpr int kThreads = 64;
  ASSERT_EQ(run({CreateNamespace{{"a"}, {}}}), "done at 2");
  std::barrier begin(kThreads);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      begin.arrive_and_wait();
      // Eight threads want the same pair: one gets both, the others nothing.
      const std::string pair = std::to_string(i % 8);
      const std::string own = "/" + std::to_string(i);
      submit({registering({{"a"}, "x" + pair}, own), registering({{"a"}, "y" + pair}, own)}).get();
    });
  }
  for (auto& thread : threads) thread.join();
  for (int pair = 0; pair < 8; ++pair) {
    EXPECT_EQ(location_of(*store_, {{"a"}, "x" + std::to_string(pair)}),
              location_of(*store_, {{"a"}, "y" + std::to_string(pair)}));
  }
  EXPECT_EQ(committer_->stats().commit_count, 9u);
  EXPECT_EQ(committer_->stats().refused_count, 56u);
  std::size_t logged = 0;
  const auto changes = read(*store_)->changes_since(2, 1000);
  for (const auto& change : *changes) {
    logged += change.kind == shm::RecordKind::kTable ? 1 : 0;
  }
  EXPECT_EQ(logged, 16u);
}

class CommitterDeathTest : public CommitterTest {
 protected:
  [[noreturn]] void commit_with_unknown_outcome() {
    store_->before_commit = [this](const auto&) -> Status {
      std::filesystem::remove_all(dir_.path());  // nobody else will
      return {ErrorKind::kStateUnknown, "the meta page was not written"};
    };
    submit({CreateNamespace{{"a"}, {}}}).get();
    ::_exit(0);
  }
  /// Files may not grow past the arena of now: that is a tmpfs with no room for another. The limit
  /// is of the whole process.
  [[noreturn]] void commit_with_an_arena_that_cannot_grow() {
    ::signal(SIGXFSZ, SIG_IGN);
    expect(run({CreateNamespace{{"a"}, {}}}) == "done at 2", __LINE__);
    const rlim_t bytes = publisher_->stats().arena_bytes;
    const struct rlimit limit { bytes, bytes };
    expect(::setrlimit(RLIMIT_FSIZE, &limit) == 0, __LINE__);
    std::vector<Operation> operations;
    for (int i = 0; i < 5000; ++i) {
      operations.emplace_back(registering({{"a"}, "t" + std::to_string(i)}, std::string(500, 'x')));
    }
    hold();
    auto first = submit({CreateNamespace{{"b"}, {}}});
    auto huge = submit(operations);
    auto last = submit({CreateNamespace{{"c"}, {}}});
    go_on();
    expect(said(first.get()) == "done at 4", __LINE__);
    const auto refused = huge.get();
    expect(std::holds_alternative<Refused>(refused), __LINE__);
    expect(std::get<Refused>(refused).refusal == Refusal::kNone, __LINE__);
    expect(said(last.get()) == "done at 5", __LINE__);
    expect(publisher_->stats().namespace_count == 4, __LINE__);
    expect(location_of(*store_, {{"a"}, "t0"}) == "(none)", __LINE__);
    finish(0);
  }

 private:
  void expect(bool holds, int line) {
    if (!holds) finish(line);
  }
  [[noreturn]] void finish(int status) {
    std::filesystem::remove_all(dir_.path());
    ::_exit(status);
  }
};

TEST_F(CommitterDeathTest, AListThatTheSegmentHasNoRoomForDoesNotRefuseTheOthers) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(commit_with_an_arena_that_cannot_grow(), ::testing::ExitedWithCode(0), "");
}

TEST_F(CommitterDeathTest, EndsTheProcessWithoutAnAnswerWhenTheOutcomeIsUnknown) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(commit_with_unknown_outcome(), ::testing::ExitedWithCode(70),
              "outcome of a commit is unknown.*the meta page");
}

}  // namespace
}  // namespace iceblink::daemon
