// What memory a call that hits touches, for valgrind's lackey: two threads make each call kCalls
// times, one thread after the other, both alive, each call between two stores to `mark`. The last
// call also writes what both threads share, and must be found out. hit_path_test.py reads the
// trace.
//
//   hit_path --serve 1 --dir DIR [--tables N]   publishes until its standard input ends
//   valgrind --tool=lackey --trace-mem=yes hit_path --dir DIR [--tables N]
//
// Prints a JSON object: of each thread its own block (stack and thread-local storage) and, call by
// call, how many also looked at whether the segment is still in its place, which lookups do at
// intervals. Then the mappings. The clock stands still while it is traced, so that intervals are as
// long as those of a quick process.
#include <fcntl.h>
#include <iceblink/catalog.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <future>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/measurement.h"
#include "bench/publisher_side.h"
#include "bench/sample_catalog.h"
#include "bench/sample_documents.h"

namespace {
bool clock_stands_still = false;
}

/// libc's, for the whole process.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  if (clock_stands_still) return *time = {.tv_sec = 1'000'000, .tv_nsec = 0}, 0;
  return static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
}

namespace {

using namespace iceblink;
using namespace iceblink::bench;

constexpr std::size_t kCalls = 40;
constexpr std::size_t kTablesAsked = 10;

/// Where the mark lies: hit_path_test.py knows it.
constexpr std::uintptr_t kMarkAddress = 0x600000000;
volatile std::uint64_t* mark = nullptr;
volatile std::uint64_t planted = 0;

/// What all threads of a process share. Set once, before they run.
struct Shared {
  Catalog catalog;
  Snapshot snapshot;
};
const Shared* shared = nullptr;

struct Call {
  const char* name;
  bool (*ask)(const TableIdent&);
};

bool exists(const TableIdent& ident) {
  return *shared->catalog.table_exists(ident);
}
constexpr Call kAsked[] = {
    // The caller's part of each: its identifier's bytes.
    {"nothing",
     [](const TableIdent& ident) {
       std::size_t sum = 0;
       for (const auto& level : ident.levels) sum += static_cast<unsigned char>(level[0]);
       return sum + static_cast<unsigned char>(ident.name[0]) > 0;
     }},
    {"table_exists", exists},
    {"Snapshot::find",
     [](const TableIdent& ident) { return shared->snapshot.find(ident)->has_value(); }},
    {"resolve_location",
     [](const TableIdent& ident) { return shared->catalog.resolve_location(ident).ok(); }},
    {"resolve_metadata",
     [](const TableIdent& ident) { return *shared->catalog.resolve_metadata(ident) != nullptr; }},
    {"load_table",
     [](const TableIdent& ident) { return *shared->catalog.load_table(ident) != nullptr; }},
    {"planted",
     [](const TableIdent& ident) {
       planted = planted + 1;
       return exists(ident);
     }},
};
constexpr std::size_t kAskedCount = std::size(kAsked);

void map_mark() {
  void* const page = ::mmap(reinterpret_cast<void*>(kMarkAddress), 4096, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  require(page == reinterpret_cast<void*>(kMarkAddress), "the mark's place is taken");
  mark = static_cast<volatile std::uint64_t*>(page);
}

/// The calls of one thread, which lives on until it is told to end.
class Caller {
 public:
  explicit Caller(const std::vector<TableIdent>& idents)

      : thread_([this, &idents] {
          note_own_block();
          warm_up(idents);
          for (std::size_t at = 0; at < kAskedCount; ++at)
            checks_[at] = ask_often(kAsked[at], idents);
          done_.set_value();
          may_end_.get_future().wait();
        }) {
    done_.get_future().wait();
  }
  ~Caller() {
    may_end_.set_value();
    thread_.join();
  }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  [[nodiscard]] std::uintptr_t begin() const noexcept { return begin_; }
  [[nodiscard]] std::uintptr_t end() const noexcept { return end_; }
  /// By call: how many looked at whether the segment is still in its place.
  [[nodiscard]] const std::array<std::uint64_t, kAskedCount>& checks() const noexcept {
    return checks_;
  }

 private:
  /// Of a thread that glibc made: its thread-local storage lies at the end of its stack.
  void note_own_block() {
    pthread_attr_t attributes;
    void* address = nullptr;
    std::size_t size = 0;
    require(::pthread_getattr_np(::pthread_self(), &attributes) == 0 &&
                ::pthread_attr_getstack(&attributes, &address, &size) == 0,
            "a thread's stack");
    ::pthread_attr_destroy(&attributes);
    begin_ = reinterpret_cast<std::uintptr_t>(address);
    end_ = begin_ + size;
  }
  /// Until every table's metadata is kept and this thread has its references.
  static void warm_up(const std::vector<TableIdent>& idents) {
    for (int turn = 0; turn < 4; ++turn) {
      for (const Call& call : kAsked) {
        for (const TableIdent& ident : idents) require(call.ask(ident), call.name);
      }
    }
  }
  static std::uint64_t ask_often(const Call& call, const std::vector<TableIdent>& idents) {
    const std::uint64_t before = shared->catalog.stats().place_check_count;
    for (std::size_t i = 0; i < kCalls; ++i) {
      const TableIdent& ident = idents[i % idents.size()];
      *mark = 1;
      const bool right = call.ask(ident);
      *mark = 0;
      require(right, call.name);
    }
    return shared->catalog.stats().place_check_count - before;
  }

  std::uintptr_t begin_ = 0;
  std::uintptr_t end_ = 0;
  std::array<std::uint64_t, kAskedCount> checks_{};
  std::promise<void> done_;
  std::promise<void> may_end_;
  std::thread thread_;
};

void print(const std::array<const Caller*, 2>& callers) {
  std::printf("{\"call_count\": %zu, \"threads\": [", kCalls);
  for (const Caller* const caller : callers) {
    std::printf("%s\n{\"own\": [%lu, %lu], \"checks\": {", caller == callers[0] ? "" : ",",
                caller->begin(), caller->end());
    for (std::size_t at = 0; at < kAskedCount; ++at) {
      std::printf("%s\"%s\": %lu", at == 0 ? "" : ", ", kAsked[at].name, caller->checks()[at]);
    }
    std::printf("}}");
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

/// /proc/self/maps, after the rest.
void print_mappings() {
  const int maps = ::open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  require(maps >= 0, "/proc/self/maps");
  static std::array<char, 1 << 16> text;
  ssize_t size = 0;
  while ((size = ::read(maps, text.data(), text.size())) > 0) {
    require(::write(STDOUT_FILENO, text.data(), static_cast<std::size_t>(size)) == size, "stdout");
  }
  ::close(maps);
}

int serve(const std::string& runtime_dir, const SampleCatalog& sample, const std::string& files) {
  const auto publisher = publish(runtime_dir, DocumentSource(sample, files));
  std::puts("ready");
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string dir = argument(argc, argv, "--dir", "/tmp");
  const SampleCatalog sample(number(argc, argv, "--tables", 1000));
  if (number(argc, argv, "--serve", 0) != 0) {
    return serve(dir + "/segment", sample, dir + "/files");
  }
  CatalogOptions options;
  options.ask_daemon = AskDaemon::kNever;
  Catalog catalog = take(Catalog::open(dir + "/segment", options));
  Snapshot snapshot = take(catalog.snapshot());
  const Shared made{std::move(catalog), std::move(snapshot)};
  shared = &made;
  std::vector<TableIdent> idents;
  for (std::size_t i = 0; i < kTablesAsked; ++i) {
    idents.push_back(sample.ident(scramble(i) % sample.table_count()));
  }
  map_mark();
  clock_stands_still = true;
  const Caller first(idents);
  const Caller second(idents);
  print({&first, &second});
  print_mappings();
  return 0;
}
