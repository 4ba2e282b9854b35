// C6b: durable commits of tables a second (a metadata file written and synced with its directory,
// the pointer moved) by writers that wait for their answers, each on a table of its own, against as
// many threads that only create such a file and sync it and its directory.
//
//   table_commit_bench --data-dir DIR --runtime-dir DIR --writers N --rounds N --milliseconds N
//                      [--snapshots N]
//
// With --snapshots the tables have that many of them; without, they are new. What is written into
// --data-dir stays there.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <future>
#include <thread>

#include "bench/measurement.h"
#include "bench/sample_metadata.h"
#include "bench/scratch_dir.h"
#include "bench/store_side.h"
#include "daemon/metadata_commits.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

TableIdent table_number(std::size_t i) {
  return {{"ns"}, "t" + std::to_string(i)};
}

double per_second(std::size_t count, std::uint64_t begin_ns) {
  return static_cast<double>(count) * 1e9 / static_cast<double>(wall_ns() - begin_ns);
}

/// Calls of `work(i)` a second by one thread for each writer i, for as long as told.
template <typename Work>
double run_for(std::uint64_t duration_ns, std::size_t writers, Work work) {
  std::atomic<std::size_t> done = 0;
  const std::uint64_t begin = wall_ns();
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < writers; ++i) {
    threads.emplace_back([&, i] {
      std::size_t count = 0;
      for (; wall_ns() - begin < duration_ns; ++count) work(i);
      done.fetch_add(count, std::memory_order_relaxed);
    });
  }
  for (auto& thread : threads) thread.join();
  return per_second(done.load(std::memory_order_relaxed), begin);
}

class TableSide {
 public:
  TableSide(StoreSide& side, const std::string& warehouse, std::size_t writers)
      : side_(side),
        roots_(take(daemon::WriteRoots::of({warehouse}, {}))),
        commits_(side.store(), side.committer(), rules_, roots_, options_of(warehouse, writers)),
        numbers_(writers, 0) {
    side_.commit({daemon::CreateNamespace{{"ns"}, {}}});
  }

  void create(std::size_t i) {
    auto request = take(
        iceberg::parse_table_creation(R"({"name":")" + table_number(i).name +
                                      R"(","schema":{"type":"struct","schema-id":0,"fields":[)"
                                      R"({"id":1,"name":"x","required":false,"type":"long"}]}})"));
    change({table_number(i), std::move(request)});
  }
  void register_table(std::size_t i, const std::string& file) {
    auto described = take(daemon::describe_metadata_file(file, rules_));
    daemon::Register operation;
    operation.ident = table_number(i);
    operation.row = std::move(described.row);
    side_.commit({std::move(operation)});
  }
  void commit(std::size_t i) {
    auto request = take(iceberg::parse_table_commit(
        R"({"requirements":[],"updates":[{"action":"set-properties","updates":{"n":")" +
        std::to_string(++numbers_[i]) + R"("}}]})"));
    change({table_number(i), std::move(request)});
  }

 private:
  static daemon::MetadataCommitsOptions options_of(const std::string& warehouse,
                                                   std::size_t writers) {
    daemon::MetadataCommitsOptions options;
    options.warehouse = warehouse;
    options.threads = writers;
    return options;
  }
  void change(daemon::MetadataChange one) {
    std::promise<daemon::ChangesAnswer> promise;
    auto future = promise.get_future();
    commits_.submit({std::move(one)}, std::nullopt,
                    [&](daemon::ChangesAnswer answer) { promise.set_value(std::move(answer)); });
    const auto answer = future.get();
    if (const auto* const refused = std::get_if<daemon::Refused>(&answer)) {
      fail(refused->error.message());
    }
    require(side_.publisher().published_generation() >=
                std::get<daemon::ChangesDone>(answer).generation,
            "an answer overtook its publish");
  }

  StoreSide& side_;
  const daemon::MetadataFileRules rules_{};
  const daemon::WriteRoots roots_;
  daemon::MetadataCommits commits_;
  std::vector<std::size_t> numbers_;  // each used by its own thread
};

/// What is the least: a file of those bytes in the directory where the table's commits write
/// theirs, so that both sides find what the file system finds there.
class FileSide {
 public:
  FileSide(const StoreSide& side, std::size_t writers) : numbers_(writers, 0) {
    for (std::size_t i = 0; i < writers; ++i) {
      const std::string own =
          std::filesystem::path(side.location_of(table_number(i))).parent_path();
      directories_.push_back(::open(own.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      require(directories_.back() >= 0, "cannot open a directory");
    }
  }
  ~FileSide() {
    for (const int fd : directories_) ::close(fd);
  }
  void write(std::size_t i, const std::string& bytes) {
    const std::string name = "file-" + std::to_string(++numbers_[i]);
    const int fd =
        ::openat(directories_[i], name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    require(fd >= 0 && ::write(fd, bytes.data(), bytes.size()) == ssize_t(bytes.size()) &&
                ::fsync(fd) == 0 && ::fsync(directories_[i]) == 0,
            "cannot write a file");
    ::close(fd);
  }

 private:
  std::vector<int> directories_;
  std::vector<std::size_t> numbers_;
};

std::string make_directory(const std::string& parent) {
  std::string path = parent + "/table-commits-XXXXXX";
  require(::mkdtemp(path.data()) != nullptr, "cannot make a directory");
  return path;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t writers = number(argc, argv, "--writers", 64);
  const std::size_t snapshots = number(argc, argv, "--snapshots", 0);
  const std::uint64_t duration_ns = number(argc, argv, "--milliseconds", 2000) * 1'000'000;
  // Not removed here: ext4 without a journal is slow to make files where many were removed of late.
  const std::string data = make_directory(argument(argc, argv, "--data-dir", "."));
  const ScratchDir runtime(argument(argc, argv, "--runtime-dir", "/dev/shm"));
  StoreSide side(data + "/store", runtime.path());
  const std::string warehouse = data + "/warehouse";
  TableSide tables(side, warehouse, writers);
  for (std::size_t i = 0; i < writers; ++i) {
    if (snapshots == 0) {
      tables.create(i);
      continue;
    }
    SampleMetadataShape shape;
    shape.snapshot_count = snapshots;
    shape.location = warehouse + "/" + table_number(i).name;
    const std::string file = data + "/" + table_number(i).name + ".metadata.json";
    std::ofstream(file, std::ios::binary) << sample_metadata(shape);
    tables.register_table(i, file);
  }
  for (std::size_t i = 0; i < writers; ++i) tables.commit(i);  // now each has its directory
  FileSide files(side, writers);
  Samples samples;
  for (std::size_t round = 0; round < number(argc, argv, "--rounds", 5); ++round) {
    samples.add("commits", run_for(duration_ns, writers, [&](std::size_t i) { tables.commit(i); }));
    // Files of the size that a commit writes now.
    const std::string bytes = bytes_of(side.location_of(table_number(0)));
    require(!bytes.empty(), "a commit left no file");
    samples.add("bytes", static_cast<double>(bytes.size()));
    samples.add("files",
                run_for(duration_ns, writers, [&](std::size_t i) { files.write(i, bytes); }));
  }
  samples.print();
  return 0;
}
