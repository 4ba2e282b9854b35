#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tests/process/world.h"

namespace iceblink::test {
namespace {

// The other process waits for "look", looks up once, and says what it saw.
[[noreturn]] void look_when_told(const std::string& runtime_dir, int from, int to) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const auto catalog = Catalog::open(runtime_dir);
  if (!catalog) ::_exit(1);
  char byte = 0;
  while (::read(from, &byte, 1) == 1) {
    const auto found = catalog->resolve_location({{"ns"}, "t"});
    const std::string answer = (found ? *found : "error: " + found.error().message()) + "\n";
    if (::write(to, answer.data(), answer.size()) < 0) ::_exit(1);
  }
  ::_exit(0);
}

TEST(ReadYourWrites, AnotherProcessSeesEachOfAThousandWritesAtItsNextLookup) {
  World world;
  ASSERT_TRUE(world.start());
  Catalog catalog = world.open();
  ASSERT_OK(catalog.create_namespace({"ns"}));
  int to_child[2];
  int to_parent[2];
  ASSERT_EQ(::pipe(to_child), 0);
  ASSERT_EQ(::pipe(to_parent), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(to_child[1]);
    look_when_told(world.runtime_dir(), to_child[0], to_parent[1]);
  }
  FILE* answers = ::fdopen(to_parent[0], "r");
  int seen = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string location = "s3://w/t@" + std::to_string(i);
    ASSERT_OK(World::put(catalog, {{"ns"}, "t"}, location));
    ASSERT_EQ(::write(to_child[1], "l", 1), 1);
    char line[256];
    ASSERT_NE(std::fgets(line, sizeof(line), answers), nullptr);
    seen += std::string(line) == location + "\n" ? 1 : 0;
  }
  EXPECT_EQ(seen, 1000);
  ::close(to_child[1]);
  ::waitpid(child, nullptr, 0);
  std::fclose(answers);
  ::close(to_child[0]);
  ::close(to_parent[1]);
}

}  // namespace
}  // namespace iceblink::test
