// Many clients at once: what one of them may win is won once, and nothing of the others is lost.
#include <barrier>
#include <functional>
#include <thread>

#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

constexpr int kThreads = 8;

class Races : public ChecklistTest {
 protected:
  /// What `request` was answered in each thread, begun together.
  std::vector<HttpResponse> all_at_once(const std::function<HttpResponse(int)>& request) {
    std::vector<HttpResponse> answers(kThreads);
    std::barrier start_line(kThreads);
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
          start_line.arrive_and_wait();
          answers[i] = request(i);
        });
      }
    }
    return answers;
  }
  static int count_of(const std::vector<HttpResponse>& answers, int status) {
    return static_cast<int>(std::count_if(answers.begin(), answers.end(), [&](const auto& answer) {
      return answer.status == status;
    }));
  }
};

TEST_F(Races, ForANameHaveOneWinner) {
  const auto answers = all_at_once([&](int) { return create(named("t")); });
  EXPECT_EQ(count_of(answers, 200), 1);
  EXPECT_EQ(count_of(answers, 409), kThreads - 1);
  EXPECT_EQ(files().size(), 1u);
  const auto views = all_at_once([&](int) {
    return this->create_view(view_creation("v", Array{sql_of("spark", "SELECT 1")}));
  });
  EXPECT_EQ(count_of(views, 200), 1);
  EXPECT_EQ(count_of(views, 409), kThreads - 1);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(Races, OfATableAndAViewForANameHaveOneWinner) {
  const auto answers = all_at_once([&](int i) {
    if (i % 2 == 0) return create(named("x"));
    return this->create_view(view_creation("x", Array{sql_of("spark", "SELECT 1")}));
  });
  EXPECT_EQ(count_of(answers, 200), 1);
  EXPECT_EQ(count_of(answers, 409), kThreads - 1);
  EXPECT_EQ(names_of("/ns/tables").size() + names_of("/ns/views").size(), 1u);
}

TEST_F(Races, OfCommitsThatDoNotContradictEachOtherLoseNothing) {
  create_table("t");
  const auto before = state();
  const auto answers = all_at_once([&](int i) {
    return update(table("t"),
                  R"({"action":"set-properties","updates":{"p)" + std::to_string(i) + R"(":"x"}})");
  });
  EXPECT_EQ(count_of(answers, 200), kThreads);
  EXPECT_EQ(load("t").at("properties").as_object().size(), static_cast<std::size_t>(kThreads));
  EXPECT_EQ(load("t").at("metadata-log").as_array().size(), static_cast<std::size_t>(kThreads));
  EXPECT_EQ(state().generation, before.generation + kThreads);
  EXPECT_EQ(state().files.size(), before.files.size() + kThreads);
}

TEST_F(Races, OfAppendsToOneBranchHaveOneWinner) {
  create_table("t");
  const auto answers = all_at_once([&](int i) {
    const auto id = std::to_string(100 + i);
    return post_text(
        table("t"),
        R"({"requirements":[{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}],
          "updates":[{"action":"add-snapshot","snapshot":)" +
            snapshot_text(100 + i, 1) + R"(},{"action":"set-snapshot-ref","ref-name":"main",
            "type":"branch","snapshot-id":)" +
            id + "}]}");
  });
  EXPECT_EQ(count_of(answers, 200), 1);
  EXPECT_EQ(count_of(answers, 409), kThreads - 1);
  for (const auto& answer : answers) {
    if (answer.status == 200) continue;
    EXPECT_THAT(answer.error_message(),
                HasSubstr("Requirement failed: branch main was created concurrently"));
  }
  EXPECT_EQ(load("t").at("snapshots").as_array().size(), 1u);
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(Races, OfTransactionsInAnyOrderEnd) {
  create_table("a");
  create_table("b");
  const auto before = state();
  const auto answers = all_at_once([&](int i) {
    const auto change = [&](const char* name) {
      return Commit{.requirements = {}, .updates = {set_properties({{"last", std::to_string(i)}})}}
          .body_for("ns", name);
    };
    return i % 2 == 0 ? transact({change("a"), change("b")}) : transact({change("b"), change("a")});
  });
  EXPECT_EQ(count_of(answers, 204), kThreads);
  EXPECT_EQ(property(load("a"), "last"), property(load("b"), "last"));
  EXPECT_EQ(state().generation, before.generation + kThreads);
}

TEST_F(Races, OfDropsHaveOneWinner) {
  create_table("t");
  const auto answers = all_at_once(
      [&](int i) { return del(table("t") + (i % 2 == 0 ? "" : "?purgeRequested=true")); });
  EXPECT_EQ(count_of(answers, 204), 1);
  EXPECT_EQ(count_of(answers, 404), kThreads - 1);
}

TEST_F(Races, OfRenamesHaveOneWinner) {
  create_table("t");
  const auto answers = all_at_once(
      [&](int i) { return rename("tables", in_ns("t"), in_ns("u" + std::to_string(i))); });
  EXPECT_EQ(count_of(answers, 204), 1);
  EXPECT_EQ(count_of(answers, 404), kThreads - 1);
  EXPECT_EQ(names_of("/ns/tables").size(), 1u);
}

// A namespace that is dropped has nothing in it, and nothing is made in one that is gone.
TEST_F(Races, OfACreationAndTheDropOfItsNamespaceLeaveNothingBetween) {
  for (int round = 0; round < 10; ++round) {
    create_namespace(R"(["n"])");
    const auto answers = all_at_once([&](int i) {
      return i == 0 ? del("/n") : post("/n/tables", named("t" + std::to_string(i)));
    });
    const bool is_dropped = answers[0].status == 204;
    EXPECT_EQ(answers[0].status, is_dropped ? 204 : 409) << answers[0].body;
    for (int i = 1; i < kThreads; ++i) {
      EXPECT_EQ(answers[i].status, is_dropped ? 404 : 200) << answers[i].body;
    }
    if (is_dropped) continue;
    for (const auto& name : names_of("/n/tables"))
      EXPECT_THAT(del("/n/tables/" + name), HasStatus(204));
    EXPECT_THAT(del("/n"), HasStatus(204));
  }
}

// Every load is of one state, whatever is committed meanwhile.
TEST_F(Races, OfLoadsAndCommitsShowWholeStates) {
  create_table("t");
  const auto answers = all_at_once([&](int i) {
    HttpResponse last;
    for (int round = 0; round < 20; ++round) {
      if (i < 2) {
        last = update(table("t"), R"({"action":"set-properties","updates":{"p":")" +
                                      std::to_string(round) + R"(","q":")" + std::to_string(round) +
                                      "\"}}");
      } else {
        last = get(table("t"));
        const auto metadata = last.json().at("metadata");
        EXPECT_EQ(property(metadata, "p"), property(metadata, "q"));
      }
      if (last.status != 200) break;
    }
    return last;
  });
  EXPECT_EQ(count_of(answers, 200), kThreads);
}

}  // namespace
}  // namespace iceblink::test
