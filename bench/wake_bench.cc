// C5: from before publish() to the return of wait_for_change in another process, against a bare
// futex between the same two processes on the same two CPUs. And read-your-writes: what was
// published before somebody heard of it is what that somebody sees.
//
//   wake_bench --dir DIR --rounds N --wakes N --writes N
#include <fcntl.h>
#include <iceblink/catalog.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <new>

#include "bench/measurement.h"
#include "bench/publisher_side.h"
#include "bench/scratch_dir.h"
#include "shm/futex.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

constexpr std::size_t kTables = 10'000;
constexpr std::chrono::milliseconds kPatience{10'000};

enum class Order : std::uint32_t { kWaitForChange, kWaitForWord, kLookUp, kEnd };

/// What the two processes say to each other. Each number is stored after what it announces.
struct SideTable {
  alignas(64) std::atomic<std::uint64_t> asked{0};  // orders given so far
  Order order = Order::kEnd;
  std::uint64_t generation = 0;                        // to wait for the one after
  std::size_t table_index = 0;                         // to look up,
  std::size_t version = 0;                             // and at which version it should be
  alignas(64) std::atomic<std::uint64_t> answered{0};  // orders carried out
  std::uint64_t woken_at_ns = 0;
  bool is_right = false;
  alignas(64) std::atomic<shm::RootWord> word{0};  // of the bare futex
};

void spin_until(const std::atomic<std::uint64_t>& number, std::uint64_t value) {
  const std::uint64_t give_up_ns = wall_ns() + 30'000'000'000;
  while (number.load(std::memory_order_acquire) < value) {
    if (wall_ns() > give_up_ns) fail("the other process does not answer");
  }
}

// ---- The process that waits.

void carry_out(SideTable& table, const Catalog& catalog, const SampleCatalog& sample) {
  switch (table.order) {
    case Order::kWaitForChange: {
      const auto seen = catalog.wait_for_change(table.generation, kPatience);
      table.woken_at_ns = wall_ns();
      table.is_right = seen.ok() && *seen && **seen == table.generation + 1;
      break;
    }
    case Order::kWaitForWord:
      while (table.word.load(std::memory_order_acquire) == table.generation) {
        shm::wait_for_root(table.word, table.generation, kPatience);
      }
      table.woken_at_ns = wall_ns();
      table.is_right = true;
      break;
    case Order::kLookUp: {
      const auto location = catalog.resolve_location(sample.ident(table.table_index));
      table.is_right =
          location.ok() && *location == sample.location(table.table_index, table.version);
      break;
    }
    case Order::kEnd:
      break;
  }
}

[[noreturn]] void wait_and_look(SideTable& table, const std::string& dir) {
  pin_to_cpu(1);
  CatalogOptions options;
  options.attach_timeout = kPatience;
  const Catalog catalog = take(Catalog::open(dir, options));
  const SampleCatalog sample(kTables);
  for (std::uint64_t turn = 1;; ++turn) {
    spin_until(table.asked, turn);
    if (table.order == Order::kEnd) std::_Exit(0);
    carry_out(table, catalog, sample);
    table.answered.store(turn, std::memory_order_release);
  }
}

// ---- The process that publishes.

/// Whether a child sleeps in the kernel, as /proc says it.
class SleepWatch {
 public:
  explicit SleepWatch(pid_t child)
      : fd_(::open(("/proc/" + std::to_string(child) + "/stat").c_str(), O_RDONLY | O_CLOEXEC)) {
    require(fd_ >= 0, "/proc is not readable");
  }
  ~SleepWatch() { ::close(fd_); }
  SleepWatch(const SleepWatch&) = delete;
  SleepWatch& operator=(const SleepWatch&) = delete;
  void await() const {
    std::array<char, 128> text{};
    while (true) {
      const ssize_t size = ::pread(fd_, text.data(), text.size() - 1, 0);
      require(size > 0, "the other process has ended");
      const std::string_view line(text.data(), static_cast<std::size_t>(size));
      const auto name_end = line.rfind(") ");
      if (name_end != std::string_view::npos && line[name_end + 2] == 'S') return;
    }
  }

 private:
  const int fd_;
};

class Waker {
 public:
  Waker(SideTable& table, PublisherSide& side, pid_t child)
      : table_(table), side_(side), sleep_(child) {}

  /// ns from before the publish to the return of the waiter.
  double wake_by_publish(std::uint64_t random) {
    const auto move = side_.prepare_one(random % kTables, random % 1000);
    table_.generation = side_.publisher().published_generation();
    ask(Order::kWaitForChange);
    sleep_.await();
    const std::uint64_t begin = wall_ns();
    side_.commit(move);
    return answer() - static_cast<double>(begin);
  }
  double wake_by_word() {
    table_.generation = table_.word.load(std::memory_order_relaxed);
    ask(Order::kWaitForWord);
    sleep_.await();
    const std::uint64_t begin = wall_ns();
    table_.word.store(table_.generation + 1, std::memory_order_release);
    shm::wake_root_waiters(table_.word);
    return answer() - static_cast<double>(begin);
  }
  /// True when the other process sees what was published before it was asked.
  bool write_and_look(std::uint64_t random, std::size_t version) {
    table_.table_index = random % kTables;
    table_.version = version;
    side_.commit(side_.prepare_one(table_.table_index, version));
    ask(Order::kLookUp);
    spin_until(table_.answered, turn_);
    return table_.is_right;
  }
  void end() { ask(Order::kEnd); }

 private:
  void ask(Order order) {
    side_.publisher().beat();
    table_.order = order;
    table_.asked.store(++turn_, std::memory_order_release);
  }
  double answer() {
    spin_until(table_.answered, turn_);
    require(table_.is_right, "the waiter saw something else");
    return static_cast<double>(table_.woken_at_ns);
  }

  SideTable& table_;
  PublisherSide& side_;
  const SleepWatch sleep_;
  std::uint64_t turn_ = 0;
};

double median(std::vector<std::uint64_t> samples) {
  return quantile(samples, 0.5);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rounds = number(argc, argv, "--rounds", 15);
  const std::size_t wakes = number(argc, argv, "--wakes", 100);
  const std::size_t writes = number(argc, argv, "--writes", 1000);
  const ScratchDir scratch(argument(argc, argv, "--dir", "/dev/shm"));
  void* page =
      ::mmap(nullptr, sizeof(SideTable), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  require(page != MAP_FAILED, "mmap");
  auto& table = *new (page) SideTable;
  // Before the publisher has threads.
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) wait_and_look(table, scratch.path());

  pin_to_cpu(0);
  PublisherSide side(scratch.path(), SampleCatalog(kTables));
  Waker waker(table, side, child);
  Samples samples;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::vector<std::uint64_t> ours;
    std::vector<std::uint64_t> bare;
    for (std::size_t i = 0; i < wakes; ++i) {
      ours.push_back(
          static_cast<std::uint64_t>(waker.wake_by_publish(scramble(round * wakes + i))));
      bare.push_back(static_cast<std::uint64_t>(waker.wake_by_word()));
    }
    samples.add("publish", median(ours));
    samples.add("futex", median(bare));
  }
  std::size_t seen = 0;
  for (std::size_t i = 0; i < writes; ++i) seen += waker.write_and_look(scramble(~i), i) ? 1 : 0;
  samples.add("writes", static_cast<double>(writes));
  samples.add("writes_seen", static_cast<double>(seen));
  waker.end();
  int status = 0;
  require(::waitpid(child, &status, 0) == child && status == 0, "the waiter failed");
  samples.print();
  return 0;
}
