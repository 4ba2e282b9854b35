// What holds between processes: fork, and mappings that cannot be written.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "tests/client/program.h"
#include "tests/client/segment_fixture.h"

namespace iceblink::testing {
namespace {

using std::chrono::seconds;

class ReaderProcess : public SegmentTest {};

/// The exit code of a child that runs `work`.
template <typename Work>
int in_child(Work&& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(ReaderProcess, AChildReadsOnWhileItsParentPublishes) {
  commit_tables(10);
  const Catalog catalog = open();
  const auto before = catalog.snapshot();
  ASSERT_OK(before);
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // Follows the parent's commits and flips to the last, and keeps the old snapshot.
    auto generation = *catalog.generation();
    if (::write(ready[1], "r", 1) != 1) ::_exit(2);
    while (*catalog.resolve_location(ident({"a"}, "t0")) != "s3://last") {
      const auto changed = catalog.wait_for_change(generation, seconds(60));
      if (!changed || !*changed) ::_exit(3);
      generation = **changed;
    }
    const auto found = before->find(ident({"a"}, "t0"));
    ::_exit(found && *found && (*found)->metadata_location() == "s3://t0" ? 0 : 4);
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  for (int i = 0; i < 100; ++i) {
    store_.put_table(ident({"a"}, "t0"), i < 99 ? "s3://" + std::to_string(i) : "s3://last");
    commit();
    if (i % 20 == 0) flip();
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(ReaderProcess, AForkAmongReadingThreadsLeavesAUsableChild) {
  commit_tables(10);
  const Catalog catalog = open();
  std::atomic<bool> is_over{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!is_over.load(std::memory_order_relaxed)) {  // relaxed: a flag to end by
        (void)catalog.table_exists(ident({"a"}, "t1"));
        (void)catalog.stats();
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    flip();
    EXPECT_EQ(in_child([&] {
                const auto found = catalog.table_exists(ident({"a"}, "t2"));
                return found && *found && catalog.stats().attach_count > 0 ? 0 : 1;
              }),
              0);
  }
  is_over.store(true, std::memory_order_relaxed);  // relaxed: a flag to end by
  for (auto& reader : readers) reader.join();
}

using ReaderProcessDeathTest = ReaderProcess;

TEST_F(ReaderProcessDeathTest, AWriteThroughTheMappingIsTheWritersEnd) {
  commit_tables(1);
  const Catalog catalog = open();
  const auto found = catalog.snapshot()->find(ident({"a"}, "t0"));
  ASSERT_TRUE(found && *found);
  auto* const byte = const_cast<char*>((*found)->metadata_location().data());
  // A sanitizer reports the signal and exits.
  const auto died = [](int status) {
    return (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV) ||
           (WIFEXITED(status) && WEXITSTATUS(status) != 0);
  };
  EXPECT_EXIT(*static_cast<volatile char*>(byte) = 'x', died, "");
}

TEST_F(ReaderProcess, MapsTheSegmentForReadingOnly) {
  commit_tables(1);
  Program watch("iceblink", {"--dir", dir_.path(), "watch", "--since", "1"});
  ASSERT_EQ(watch.line(), "2 put namespace a");
  std::ifstream maps("/proc/" + std::to_string(watch.pid()) + "/maps");
  int seen = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(dir_.path()) == std::string::npos) continue;
    ++seen;
    EXPECT_NE(line.find(" r--s "), std::string::npos) << line;
  }
  EXPECT_EQ(seen, 2);  // control and arena
}

}  // namespace
}  // namespace iceblink::testing
