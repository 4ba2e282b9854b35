// The cache of metadata in several processes, with a daemon that commits under it.
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <barrier>
#include <csignal>
#include <filesystem>
#include <thread>

#include "tests/client/cache/metadata_files.h"
#include "tests/process/reader_process.h"
#include "tests/process/world.h"

namespace iceblink::test {
namespace {

using iceblink::testing::number_of;
using iceblink::testing::numbered_metadata;
using iceblink::testing::put_file;

constexpr std::size_t kTables = 4;

TableIdent table(std::size_t index) {
  return {{"ns"}, "t" + std::to_string(index)};
}

/// Shared with all readers: the numbers of each table's contents only grow.
struct Truth {
  std::array<std::atomic<std::uint64_t>, kTables> acknowledged{};  // readers must see it, or later
  std::array<std::atomic<std::uint64_t>, kTables> announced{};     // and nothing above this

  static Truth& make() {
    void* const page =
        ::mmap(nullptr, sizeof(Truth), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return *new (page) Truth;
  }
};

/// What is wrong with an answer that was asked for when `from` was acknowledged.
std::string judge(const Result<std::shared_ptr<const TableMetadata>>& answer, std::uint64_t from,
                  std::uint64_t to) {
  if (!answer) {
    // Between a drop and the next table of that name.
    if (answer.error().message().starts_with("Table does not exist")) return {};
    return answer.error().message();
  }
  const std::uint64_t number = number_of(**answer);
  if (number >= from && number <= to) return {};
  return "got " + std::to_string(number) + ", and " + std::to_string(from) +
         " was acknowledged before";
}

/// Four threads that ask for single tables and for all of them.
std::string ask_in_threads(Catalog& catalog, ReaderPage& page, const Truth& truth) {
  std::array<std::string, 4> wrong;
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < wrong.size(); ++thread) {
    threads.emplace_back([&, thread] {
      const std::vector<TableIdent> all{table(0), table(1), table(2), table(3)};
      for (std::size_t turn = 0; turn < 200 && wrong[thread].empty(); ++turn) {
        std::array<std::uint64_t, kTables> from{};
        for (std::size_t i = 0; i < kTables; ++i) from[i] = truth.acknowledged[i];
        if (turn % 8 == 0) {
          const auto answers = catalog.resolve_metadata(all);
          for (std::size_t i = 0; i < kTables; ++i) {
            wrong[thread] += answers ? judge((*answers)[i], from[i], truth.announced[i])
                                     : answers.error().message();
          }
        } else {
          const std::size_t i = (turn + thread) % kTables;
          const auto answer = catalog.resolve_metadata(table(i));
          wrong[thread] = judge(answer, from[i], truth.announced[i]);
        }
        ++page.lookups;
      }
    });
  }
  for (auto& each : threads) each.join();
  return wrong[0] + wrong[1] + wrong[2] + wrong[3];
}

/// Gives tables new contents: by files of new names, whose predecessors are deleted; and by
/// dropping a table and making another on the same path.
class Writer {
 public:
  Writer(World& world, Catalog& catalog, Truth& truth)
      : dir_(world.data_dir()), catalog_(catalog), truth_(truth) {}

  void make(std::size_t index) {
    paths_[index] = path(index);
    write(index);
    ASSERT_OK(catalog_.register_table(table(index), paths_[index]));
    truth_.acknowledged[index] = number_;
  }
  void move(std::size_t index) {
    const std::string old = std::exchange(paths_[index], path(index));
    write(index);
    ASSERT_OK(catalog_.move_table(table(index), old, paths_[index]));
    truth_.acknowledged[index] = number_;
    std::filesystem::remove(old);
  }
  void make_again(std::size_t index) {
    ASSERT_OK(catalog_.drop_table(table(index)));
    write(index);
    ASSERT_OK(catalog_.register_table(table(index), paths_[index]));
    truth_.acknowledged[index] = number_;
  }

 private:
  [[nodiscard]] std::string path(std::size_t index) const {
    return dir_ + "/t" + std::to_string(index) + "." + std::to_string(number_) + ".metadata.json";
  }
  void write(std::size_t index) {
    truth_.announced[index] = ++number_;
    put_file(paths_[index], numbered_metadata(number_, 1000 + number_ % 7 * 5000));
  }

  const std::string dir_;
  Catalog& catalog_;
  Truth& truth_;
  std::array<std::string, kTables> paths_;
  std::uint64_t number_ = 0;
};

TEST(MetadataCacheProcess, NoAnswerIsOlderThanWhatWasAcknowledgedBeforeTheQuestion) {
  World world;
  ASSERT_TRUE(world.start());
  Catalog catalog = world.open();
  ASSERT_OK(catalog.create_namespace({"ns"}));
  Truth& truth = Truth::make();
  Writer writer(world, catalog, truth);
  for (std::size_t i = 0; i < kTables; ++i) writer.make(i);
  std::vector<std::unique_ptr<ReaderProcess>> readers;
  for (int i = 0; i < 4; ++i) {
    readers.push_back(std::make_unique<ReaderProcess>(
        world.runtime_dir(), [&truth](Catalog& attached, ReaderPage& page) {
          return ask_in_threads(attached, page, truth);
        }));
  }
  for (int round = 0; round < 40; ++round) {
    for (std::size_t i = 0; i < kTables; ++i) {
      if ((round + i) % 2 == 0) {
        writer.move(i);
      } else {
        writer.make_again(i);
      }
    }
    if (round % 10 == 0) {
      for (auto& reader : readers) ASSERT_TRUE(reader->wait_for_lookups(10));
    }
  }
  for (auto& reader : readers) EXPECT_EQ(reader->finish(), "");
}

/// In a child, once told: as many threads as make a herd ask for one table.
int ask_as_a_herd(const std::string& runtime_dir, int go) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto catalog = Catalog::open(runtime_dir);
  char byte = 0;
  if (!catalog || ::read(go, &byte, 1) != 0) return 1;  // all are told by its end
  constexpr std::size_t kThreads = 64;
  std::barrier ready(kThreads);
  std::atomic<std::size_t> right{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ready.arrive_and_wait();
      const auto metadata = catalog->resolve_metadata(table(0));
      if (metadata && number_of(**metadata) == 7) ++right;
    });
  }
  for (auto& thread : threads) thread.join();
  const auto stats = catalog->stats();
  return right == kThreads && stats.metadata_cache.load_count == 1 && stats.files.file_count == 1
             ? 0
             : 2;
}

TEST(MetadataCacheProcess, AHerdReadsAFileOnceInEachProcess) {
  World world;
  ASSERT_TRUE(world.start());
  Catalog catalog = world.open();
  ASSERT_OK(catalog.create_namespace({"ns"}));
  const std::string path = world.data_dir() + "/v7.metadata.json";
  put_file(path, numbered_metadata(7, 500'000));
  ASSERT_OK(catalog.register_table(table(0), path));
  int go[2];
  ASSERT_EQ(::pipe(go), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(go[1]);
      ::_exit(ask_as_a_herd(world.runtime_dir(), go[0]));
    }
    children.push_back(child);
  }
  ::close(go[0]);
  ::close(go[1]);
  for (const pid_t child : children) {
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
}

TEST(MetadataCacheProcess, AnotherProcessSeesTheTableThatWasMadeAgainOnTheSamePath) {
  World world;
  ASSERT_TRUE(world.start());
  Catalog catalog = world.open();
  ASSERT_OK(catalog.create_namespace({"ns"}));
  Truth& truth = Truth::make();
  Writer writer(world, catalog, truth);
  writer.make(0);
  ReaderProcess reader(world.runtime_dir(), [&truth](Catalog& attached, ReaderPage& page) {
    const std::uint64_t from = truth.acknowledged[0];
    const auto answer = attached.resolve_metadata(table(0));
    ++page.lookups;
    return judge(answer, from, truth.announced[0]);
  });
  for (int round = 0; round < 20; ++round) {
    ASSERT_TRUE(reader.wait_for_lookups(2));  // it has what was made
    writer.make_again(0);
  }
  EXPECT_EQ(reader.finish(), "");
}

TEST(MetadataCacheProcess, WhoCommitsLoadsWhatWasCommitted) {
  World world;
  ASSERT_TRUE(world.start());
  Catalog catalog = world.open();
  ASSERT_OK(catalog.create_namespace({"ns"}));
  Truth& truth = Truth::make();
  Writer writer(world, catalog, truth);
  writer.make(0);
  for (std::uint64_t round = 1; round <= 100; ++round) {
    writer.move(0);
    const auto metadata = catalog.resolve_metadata(table(0));
    ASSERT_OK(metadata);
    ASSERT_EQ(number_of(**metadata), round + 1);
  }
}

}  // namespace
}  // namespace iceblink::test
