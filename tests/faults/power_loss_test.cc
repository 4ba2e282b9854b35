// The power goes, at any moment of a daemon's life. What it did to files was recorded, with the
// answers that it gave; from that, every disk that the order of writes and syncs allows is made, or
// many of them, and judged: the store opens, is at a generation that is at least the last one
// answered with, is as it was at that generation, and every pointer is to a whole file.
//
// ICEBLINK_POWER_STATES=N makes N random disks at each sync, instead of some. The seed is printed;
// ICEBLINK_SEED sets it.

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

#include "tests/client/program.h"
#include "tests/faults/commit_scenarios.h"
#include "tests/faults/faulty_child.h"
#include "tests/faults/store_judge.h"
#include "tests/process/rest_requests.h"
#include "tests/process/world.h"

// The stores that this program itself opens are on a tmpfs; syncing the directories above them
// would be all that it does.
extern "C" int fsync(int) {
  return 0;
}

namespace iceblink::test {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kExhaustiveMax = 6;  // pending changes of which all subsets are tried
constexpr int kRandomSubsets = 24;
constexpr std::size_t kWholeDaemons = 16;

int number_from_environment(const char* name, int otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoi(text);
}

/// The generation that an answer says; 0: it says none.
std::uint64_t generation_said(const RecordEntry& entry) {
  constexpr std::string_view kField = "Iceblink-Generation: ";
  if (entry.head.kind != faults::RecordKind::kSend) return 0;
  const auto at = entry.data.find(kField);
  std::uint64_t generation = 0;
  if (at != std::string::npos) {
    const char* const digits = entry.data.data() + at + kField.size();
    std::from_chars(digits, entry.data.data() + entry.data.size(), generation);
  }
  return generation;
}

/// A daemon that makes everything from nothing, and commits in every way, under the record.
class Recorded {
 public:
  Recorded() : record_(world_.data_dir() + ".record") {
    fs::remove(world_.data_dir());  // the daemon makes it
    world_.set_environment(
        {{"LD_PRELOAD", kFaultLibrary}, {"ICEBLINK_FILE_FAULTS", "record:" + record_}});
  }
  ~Recorded() { fs::remove(record_); }

  void run() {
    ASSERT_TRUE(start()) << world_.daemon().errors();
    for (const HttpRequest& request : preparations()) commit(request);
    commit_all(2);
    commit({.verb = "POST",
            .target = "/v1/tables/rename",
            .body = R"({"source":{"namespace":["ns"],"name":"c1"},)"
                    R"("destination":{"namespace":["ns"],"name":"moved"}})"});
    commit({.verb = "DELETE", .target = "/v1/namespaces/ns/tables/moved"});
    commit_beside_each_other();
    world_.kill_daemon();
    ASSERT_TRUE(start()) << world_.daemon().errors();
    commit_all(1);
    commit_beside_each_other();
    ASSERT_EQ(world_.stop_daemon(), 0);
  }

  [[nodiscard]] World& world() { return world_; }
  [[nodiscard]] std::vector<RecordEntry> entries() const { return read_record(record_); }
  [[nodiscard]] int commit_count() const { return commit_count_; }

 private:
  bool start() { return world_.start({"--headroom-bytes", "65536", "--log-level", "warning"}); }

  void commit(const HttpRequest& request) {
    const auto answer = connect(world_).request(request);
    EXPECT_LT(answer.status, 300) << request.target << ": " << answer.body;
    ++commit_count_;
  }
  void commit_all(int times) {
    for (int i = 0; i < times; ++i) {
      ++attempt_;
      for (const CommitScenario& scenario : commit_scenarios()) {
        commit(scenario.request(attempt_, Version(attempt_)));
      }
    }
  }
  /// Two at a time, so that commits share a transaction, and files are written meanwhile.
  void commit_beside_each_other() {
    std::vector<std::thread> threads;
    for (const char* const table : {"r", "x"}) {
      threads.emplace_back([this, table] {
        for (int i = 0; i < 4; ++i) {
          const auto answer = connect(world_).post(std::string("/v1/namespaces/ns/tables/") + table,
                                                   set_property("i", "1"));
          EXPECT_EQ(answer.status, 200) << answer.body;
        }
      });
    }
    for (auto& thread : threads) thread.join();
    commit_count_ += 8;
  }

  World world_;
  std::string record_;
  int commit_count_ = 0;
  int attempt_ = 0;
};

/// A subset of the pending changes, of which one may be torn.
struct Choice {
  std::vector<bool> chosen;
  std::size_t torn = SIZE_MAX;
  std::uint64_t torn_bytes = 0;

  [[nodiscard]] DiskImage image(const DiskModel& model) const {
    if (torn == SIZE_MAX) return model.image(chosen);
    DiskImage image = model.durable();
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      DiskChange change = model.pending()[i];
      if (i == torn) change.data.resize(std::min<std::size_t>(change.data.size(), torn_bytes));
      if (chosen[i]) change.apply_to(image);
    }
    return image;
  }
  [[nodiscard]] std::string text(const DiskModel& model) const {
    std::string text;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      text += (chosen[i] ? "\n  there: " : "\n  lost:  ") + model.pending()[i].text();
      if (i == torn) text += " torn after " + std::to_string(torn_bytes);
    }
    return text;
  }
};

/// All subsets where there are few; else none, all, all but one, one, the first ones, random ones.
/// And each block torn, in front of all others and of none.
std::vector<Choice> choices_of(const DiskModel& model, std::mt19937_64& random, int random_count) {
  const std::size_t count = model.pending().size();
  std::vector<Choice> choices;
  const auto add = [&](const std::function<bool(std::size_t)>& is_chosen) {
    Choice choice;
    for (std::size_t i = 0; i < count; ++i) choice.chosen.push_back(is_chosen(i));
    choices.push_back(std::move(choice));
  };
  if (count <= kExhaustiveMax) {
    for (std::size_t mask = 0; mask < (std::size_t{1} << count); ++mask) {
      add([mask](std::size_t i) { return ((mask >> i) & 1) != 0; });
    }
  } else {
    for (std::size_t one = 0; one < count; ++one) {
      add([one](std::size_t i) { return i == one; });
      add([one](std::size_t i) { return i != one; });
      add([one](std::size_t i) { return i < one; });
    }
    add([](std::size_t) { return true; });
    for (int i = 0; i < random_count; ++i) add([&](std::size_t) { return (random() & 1) != 0; });
  }
  for (std::size_t one = 0; one < count; ++one) {
    const auto bytes = model.pending()[one].data.size();
    if (bytes <= DiskModel::kSectorBytes) continue;
    for (const bool others : {false, true}) {
      add([one, others](std::size_t i) { return i == one || others; });
      choices.back().torn = one;
      choices.back().torn_bytes =
          DiskModel::kSectorBytes * (1 + random() % ((bytes - 1) / DiskModel::kSectorBytes));
    }
  }
  return choices;
}

/// What a child process says of the disks that it judged.
struct Verdicts {
  std::uint64_t judged = 0;
  char current[4096] = {};
  char wrong[4096] = {};
};

/// The record is whole when all of it together is what is there now.
void expect_same_as_on_disk(const DiskModel& model, const std::string& data_dir) {
  const DiskImage image = model.image(std::vector<bool>(model.pending().size(), true));
  std::size_t count = 0;
  for (const auto& file : fs::recursive_directory_iterator(data_dir)) {
    const std::string path = file.path();
    if (!file.is_regular_file() || path.ends_with(".lock") || path.ends_with("/lock.mdb")) continue;
    std::ifstream in(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(in), {});
    const std::string* const known = image.find(path);
    ASSERT_NE(known, nullptr) << path;
    EXPECT_TRUE(*known == bytes) << path << " was written past the record";
    ++count;
  }
  EXPECT_GT(count, 10u);
}

class PowerLoss : public ::testing::Test {
 protected:
  PowerLoss()
      : seed_(static_cast<std::uint64_t>(
            number_from_environment("ICEBLINK_SEED", static_cast<int>(::getpid())))) {
    std::printf("seed %llu\n", static_cast<unsigned long long>(seed_));
    char path[] = "/dev/shm/iceblink-power-XXXXXX";
    scratch_ = ::mkdtemp(path);
    void* const at = ::mmap(nullptr, sizeof(Verdicts), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    verdicts_ = new (at) Verdicts;
  }
  ~PowerLoss() override {
    ::munmap(verdicts_, sizeof(Verdicts));
    fs::remove_all(scratch_);
  }

  /// In a child, since what LMDB makes of a damaged file may end the process.
  std::string judge_all(const StoreJudge& judge, const DiskModel& model, std::uint64_t seen) {
    const auto choices = choices_of(
        model, random_, number_from_environment("ICEBLINK_POWER_STATES", kRandomSubsets));
    const pid_t child = ::fork();
    if (child == 0) {
      for (const Choice& choice : choices) {
        std::snprintf(verdicts_->current, sizeof verdicts_->current, "%s",
                      choice.text(model).c_str());
        const std::string wrong = judge.judge(choice.image(model), seen, random_());
        ++verdicts_->judged;
        if (wrong.empty()) continue;
        std::snprintf(verdicts_->wrong, sizeof verdicts_->wrong, "%s", wrong.c_str());
        ::_exit(1);
      }
      ::_exit(::testing::Test::HasFailure() ? 2 : 0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    if (status == 0) return {};
    return std::string(verdicts_->wrong) + "\nstatus " + std::to_string(status) +
           ", answers said generation " + std::to_string(seen) + ", and of what was not synced" +
           verdicts_->current;
  }

  void record() {
    recorded_.run();
    if (HasFailure()) return;
    data_dir_ = recorded_.world().data_dir();
    entries_ = recorded_.entries();
    fs::copy(data_dir_, scratch_ + "/last", fs::copy_options::recursive);
    history_.emplace(scratch_ + "/last");
    EXPECT_GE(history_->last_generation(), 20u);
  }

  /// At every sync: what was not synced before it may be there or not. And the number of moments.
  std::pair<std::string, std::size_t> first_wrong(const std::vector<RecordEntry>& entries) {
    const StoreJudge judge(*history_, data_dir_, scratch_ + "/disk");
    DiskModel model(data_dir_);
    std::uint64_t seen = 0;
    std::size_t moments = 0;
    std::string wrong;
    for (const RecordEntry& entry : entries) {
      const bool is_sync = entry.head.kind == faults::RecordKind::kSync;
      if ((is_sync || entry.head.is_durable != 0) && !model.pending().empty()) {
        ++moments;
        pending_max_ = std::max(pending_max_, model.pending().size());
        wrong = judge_all(judge, model, seen);
        if (!wrong.empty()) return {wrong, moments};
      }
      model.apply(entry);
      seen = std::max(seen, generation_said(entry));
      keep_for_later(model, seen);
    }
    EXPECT_EQ(seen, history_->last_generation()) << "answers do not say their generation";
    expect_same_as_on_disk(model, data_dir_);
    return {judge_all(judge, model, seen), moments};
  }

  [[nodiscard]] std::uint64_t store_inode() const {
    struct stat status {};
    EXPECT_EQ(::stat((data_dir_ + "/lmdb/data.mdb").c_str(), &status), 0);
    return status.st_ino;
  }

  void keep_for_later(const DiskModel& model, std::uint64_t seen) {
    if (seen < 5 || model.pending().empty() || random_() % 12 != 0) return;
    if (kept_.size() >= kWholeDaemons) return;
    std::vector<bool> chosen;
    for (std::size_t i = 0; i < model.pending().size(); ++i) chosen.push_back((random_() & 1) != 0);
    kept_.push_back({model.image(chosen), seen});
  }

  /// The whole daemon, on some of the disks, at their old place: it starts, everything fits
  /// together, and the next commit works.
  void expect_daemons_to_start() {
    EXPECT_GT(kept_.size(), 3u);
    World& world = recorded_.world();
    world.set_environment({});
    for (const auto& [image, seen] : kept_) {
      lay_out(image);
      fs::remove_all(world.runtime_dir());
      fs::create_directory(world.runtime_dir());
      ASSERT_TRUE(world.start()) << world.daemon().errors();
      EXPECT_GE(world.open().generation().value(), seen);
      iceblink::testing::Program program("iceblink", {"--dir", world.runtime_dir(), "verify"});
      const auto verified = program.wait();
      EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
      const auto made = connect(world).post("/v1/namespaces/ns/tables", creation_of("after"));
      EXPECT_EQ(made.status, 200) << made.body;
      EXPECT_EQ(world.stop_daemon(), 0);
    }
    std::printf("power loss: %zu daemons started\n", kept_.size());
  }

  void lay_out(const DiskImage& image) const {
    fs::remove_all(data_dir_);
    for (const auto& directory : image.directories) {
      if (image.has_directory(directory)) fs::create_directories(directory);
    }
    for (const auto& [path, file] : image.names) {
      const std::string* const bytes = image.find(path);
      if (bytes != nullptr) std::ofstream(path, std::ios::binary) << *bytes;
    }
  }

  struct Kept {
    DiskImage image;
    std::uint64_t seen;
  };

  std::uint64_t seed_;
  std::mt19937_64 random_{seed_};
  Recorded recorded_;
  std::string data_dir_;
  std::vector<RecordEntry> entries_;
  std::optional<History> history_;
  std::vector<Kept> kept_;
  std::size_t pending_max_ = 0;
  std::string scratch_;
  Verdicts* verdicts_;
};

TEST_F(PowerLoss, LosesNothingThatWasAnsweredAndLeavesNothingHalfDone) {
  record();
  if (HasFailure()) return;
  const auto [wrong, moments] = first_wrong(entries_);
  ASSERT_EQ(wrong, "");
  std::printf(
      "power loss: %d commits, %zu entries, %zu moments, up to %zu changes not synced, "
      "%llu disks judged\n",
      recorded_.commit_count(), entries_.size(), moments, pending_max_,
      static_cast<unsigned long long>(verdicts_->judged));
  EXPECT_GT(moments, 50u);
  EXPECT_GT(verdicts_->judged, 1000u);
  expect_daemons_to_start();
}

// A disk that does not do what it says, or a daemon that does not say it, is found out.
TEST_F(PowerLoss, IsNoticedWhereASyncIsLeftOut) {
  record();
  if (HasFailure()) return;
  const auto without = [this](const std::function<bool(const RecordEntry&)>& is_left_out) {
    auto entries = entries_;
    std::erase_if(entries, is_left_out);
    return first_wrong(entries).first;
  };
  using faults::RecordKind;
  EXPECT_THAT(without([](const RecordEntry& entry) {
                return entry.head.kind == RecordKind::kSync && entry.path.ends_with("/lmdb");
              }),
              ::testing::HasSubstr("the store is not there"));
  EXPECT_THAT(without([](const RecordEntry& entry) {
                return entry.head.kind == RecordKind::kSync && entry.path.ends_with("/metadata");
              }),
              ::testing::HasSubstr("a pointer to a file that is not there"));
  const std::uint64_t store = store_inode();
  EXPECT_THAT(without([store](const RecordEntry& entry) {
                return entry.head.kind == RecordKind::kSync && entry.path.empty() &&
                       entry.head.inode != store;
              }),
              ::testing::HasSubstr("a pointer to a file that is not whole"));
  EXPECT_NE(without([store](const RecordEntry& entry) {
              return entry.head.kind == RecordKind::kSync && entry.head.inode == store;
            }),
            "");
}

}  // namespace
}  // namespace iceblink::test
