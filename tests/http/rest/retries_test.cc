// Commits of many clients at once: those whose requirements still hold succeed without the client's
// doing, and of those that exclude each other one does.
#include <atomic>
#include <thread>

#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

constexpr int kClientCount = 8;

class ServerSideRetries : public RestTest {
 protected:
  /// `work(i)` in a thread of its own for each client, all at once.
  template <typename Work>
  static void in_parallel(const Work& work) {
    std::atomic<int> waiting{kClientCount};
    std::vector<std::thread> clients;
    for (int i = 0; i < kClientCount; ++i) {
      clients.emplace_back([&, i] {
        waiting.fetch_sub(1);
        while (waiting.load() > 0) std::this_thread::yield();
        work(i);
      });
    }
    for (auto& client : clients) client.join();
  }
};

TEST_F(ServerSideRetries, LetAllClientsSetTheirProperty) {
  const auto base = create_table("tbl");
  in_parallel([&](int i) {
    for (int turn = 0; turn < 5; ++turn) {
      const auto key = "client-" + std::to_string(i) + "-" + std::to_string(turn);
      EXPECT_THAT(commit("tbl", properties_change(base, {{key, "done"}})), HasStatus(200));
    }
  });
  const auto all = load("tbl");
  EXPECT_EQ(all.at("properties").as_object().size(), std::size_t{kClientCount} * 5);
  EXPECT_EQ(all.at("metadata-log").as_array().size(), std::size_t{kClientCount} * 5);
}

TEST_F(ServerSideRetries, LetOneOfTheAppendsFromOneBaseSucceed) {
  const auto base = create_table("tbl");
  std::atomic<int> succeeded{0};
  in_parallel([&](int i) {
    const auto answer = commit("tbl", append(base, i + 1));
    if (answer.status == 200) {
      succeeded.fetch_add(1);
    } else {
      EXPECT_THAT(answer, IsError(409, "CommitFailedException",
                                  HasSubstr("Requirement failed: branch main was created "
                                            "concurrently")));
    }
  });
  EXPECT_EQ(succeeded.load(), 1);
  EXPECT_EQ(load("tbl").at("snapshots").as_array().size(), 1u);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(ServerSideRetries, LeaveNoAppendOutWhereClientsTryAgain) {
  create_table("tbl");
  in_parallel([&](int i) {
    for (int attempt = 0; attempt < 1000; ++attempt) {
      const auto answer = commit("tbl", append(load("tbl"), i + 1));
      if (answer.status == 200) return;
      EXPECT_THAT(answer, HasStatus(409));
    }
    ADD_FAILURE() << "client " << i << " never got through";
  });
  const auto all = load("tbl");
  EXPECT_EQ(all.at("snapshots").as_array().size(), std::size_t{kClientCount});
  EXPECT_EQ(all.at("last-sequence-number").as_int64(), kClientCount);
}

TEST_F(ServerSideRetries, LetChangesOfDifferentThingsFromOneBaseSucceed) {
  const auto base = create_table("tbl");
  const std::vector<Commit> commits{
      schema_change(base, with_column(current_schema(base), 1, 3, "new_col")),
      spec_change(base, id_buckets(1, 1)),
      order_change(base, order_of({sort_field(1)})),
      append(base, 1),
      properties_change(base, {{"a", "1"}}),
      append(base, 2, "b"),
      properties_change(base, {{"b", "2"}}),
      {{assert_table_uuid(base.at("table-uuid"))}, {set_location(warehouse() + "/moved")}}};
  ASSERT_EQ(commits.size(), std::size_t{kClientCount});
  in_parallel([&](int i) {
    EXPECT_THAT(commit("tbl", commits.at(static_cast<std::size_t>(i))), HasStatus(200)) << i;
  });
  const auto all = load("tbl");
  EXPECT_EQ(all.at("current-schema-id").as_int64(), 1);
  EXPECT_EQ(all.at("default-spec-id").as_int64(), 1);
  EXPECT_EQ(all.at("default-sort-order-id").as_int64(), 1);
  EXPECT_EQ(all.at("properties").as_object().size(), 2u);
  EXPECT_EQ(all.at("snapshots").as_array().size(), 2u);
  EXPECT_EQ(all.at("location"), Value(warehouse() + "/moved"));
  EXPECT_EQ(all.at("metadata-log").as_array().size(), std::size_t{kClientCount});
}

TEST_F(ServerSideRetries, LetOneOfTheCreationsOfOneNameSucceed) {
  std::atomic<int> succeeded{0};
  in_parallel([&](int i) {
    const auto answer = i % 2 == 0
                            ? create(named("one"))
                            : create_view(view_creation("one", Array{sql_of("spark", "select 1")}));
    if (answer.status == 200) {
      succeeded.fetch_add(1);
    } else {
      EXPECT_THAT(answer, IsError(409, "AlreadyExistsException", HasSubstr("already exists")));
    }
  });
  EXPECT_EQ(succeeded.load(), 1);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(ServerSideRetries, LetAllReplacementsOfAViewLandInItsHistory) {
  const auto base = create_sql_view("view");
  in_parallel([&](int i) {
    const auto sql = "select " + std::to_string(i);
    EXPECT_THAT(
        commit_view("view", view_replacement(base, view_version(Array{sql_of("spark", sql)}, 2))),
        HasStatus(200));
  });
  const auto all = load_view("view");
  EXPECT_EQ(all.at("current-version-id").as_int64(), kClientCount + 1);
  EXPECT_EQ(all.at("versions").as_array().size(), std::size_t{kClientCount} + 1);
  EXPECT_EQ(all.at("version-log").as_array().size(), std::size_t{kClientCount} + 1);
}

TEST_F(ServerSideRetries, LetTransactionsAndCommitsThroughTogether) {
  const auto one = create_table("one");
  const auto two = create_table("two");
  in_parallel([&](int i) {
    const Object property{{"client-" + std::to_string(i), "done"}};
    const auto both = Array{properties_change(one, property).body_for("ns", "one"),
                            properties_change(two, property).body_for("ns", "two")};
    if (i % 2 == 0) {
      EXPECT_THAT(transact(both), HasStatus(204));
    } else {
      EXPECT_THAT(commit("one", properties_change(one, property)), HasStatus(200));
    }
  });
  EXPECT_EQ(load("one").at("properties").as_object().size(), std::size_t{kClientCount});
  EXPECT_EQ(load("two").at("properties").as_object().size(), std::size_t{kClientCount} / 2);
}

TEST_F(ServerSideRetries, LetADropWinOrLose) {
  for (int round = 0; round < 5; ++round) {
    const auto base = create_table("tbl");
    in_parallel([&](int i) {
      if (i == 0) {
        EXPECT_THAT(del(table("tbl")), HasStatus(204));
        return;
      }
      const auto answer = commit("tbl", properties_change(base, {{std::to_string(i), "1"}}));
      if (answer.status == 200) return;
      EXPECT_THAT(answer,
                  IsError(404, "NoSuchTableException", HasSubstr("Table does not exist: ns.tbl")));
    });
    EXPECT_THAT(head(table("tbl")), HasStatus(404));
  }
}

TEST_F(ServerSideRetries, LeaveNoFileOfATableThatIsPurgedMeanwhile) {
  const auto base = create_table("tbl");
  in_parallel([&](int i) {
    if (i == 0) {
      EXPECT_THAT(del(table("tbl") + "?purgeRequested=true"), HasStatus(204));
      return;
    }
    const auto answer = commit("tbl", properties_change(base, {{std::to_string(i), "1"}}));
    EXPECT_TRUE(answer.status == 200 || answer.status == 404) << answer.body;
  });
  for (const auto& file : files()) expect_to_go(file);
}

}  // namespace
}  // namespace iceblink::test
