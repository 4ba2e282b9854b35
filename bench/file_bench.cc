// Metadata files read at once: FileReader::read_many against a loop of open, fstat, pread, close.
// Cold: their pages are dropped before each side's turn, so that the disk is read. The reader has
// its ring already, as a process that read before has.
//
// With --drop-names 1, which takes root, names and inodes are dropped, too, those of the whole
// machine.
//
//   file_bench --dir DIR --files N --bytes N --rounds N [--drop-names 1]
#include <fcntl.h>
#include <iceblink/options.h>
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "bench/measurement.h"
#include "bench/sample_catalog.h"
#include "bench/scratch_dir.h"
#include "client/file_reader.h"
#include "iceberg/byte_buffer.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

class SampleFiles {
 public:
  SampleFiles(const std::string& directory, std::size_t count, std::size_t bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      contents_.emplace_back(bytes, '\0');
      for (std::size_t at = 0; at < bytes; ++at) {
        contents_[i][at] = static_cast<char>(scramble(i * bytes + at));
      }
      paths_.push_back(directory + "/" + std::to_string(i) + ".metadata.json");
      const int fd = ::open(paths_[i].c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
      require(fd >= 0 && ::write(fd, contents_[i].data(), bytes) == static_cast<ssize_t>(bytes) &&
                  ::fsync(fd) == 0 && ::close(fd) == 0,
              "cannot write a file");
    }
  }
  [[nodiscard]] const std::vector<std::string>& paths() const { return paths_; }
  [[nodiscard]] const std::string& content(std::size_t i) const { return contents_[i]; }

  /// Anything but kPages is of the whole machine.
  enum class Drop { kPages, kPagesAndNames };
  void drop(Drop what) const {
    for (const std::string& path : paths_) {
      const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
      require(fd >= 0 && ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED) == 0, "cannot drop pages");
      ::close(fd);
    }
    if (what == Drop::kPages) return;
    std::ofstream caches("/proc/sys/vm/drop_caches");
    require(static_cast<bool>(caches << 2 << std::flush), "cannot drop names");
  }

 private:
  std::vector<std::string> paths_;
  std::vector<std::string> contents_;
};

iceberg::ByteBuffer read_plainly(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  require(fd >= 0, "cannot open a file");
  struct stat status {};
  require(::fstat(fd, &status) == 0, "cannot stat a file");
  iceberg::ByteBuffer bytes(static_cast<std::size_t>(status.st_size));
  require(::pread(fd, bytes.data(), bytes.size(), 0) == status.st_size, "cannot read a file");
  ::close(fd);
  return bytes;
}

/// Times both sides on the same files.
class Sides {
 public:
  Sides(const SampleFiles& files, Samples& samples) : files_(files), samples_(samples) {
    reader_ = take(client::FileReader::make({}));
  }

  void read_many(const std::string& name) {
    std::vector<client::FileRead> reads;
    for (const std::string& path : files_.paths()) reads.push_back({path});
    time(name, [&] { reader_->read_many(reads, std::size_t{1} << 30); });
    for (std::size_t i = 0; i < reads.size(); ++i) check(i, take(std::move(reads[i].content)));
  }
  void read_in_turn(const std::string& name) {
    std::vector<iceberg::ByteBuffer> contents;
    contents.reserve(files_.paths().size());
    time(name, [&] {
      for (const std::string& path : files_.paths()) contents.push_back(read_plainly(path));
    });
    for (std::size_t i = 0; i < contents.size(); ++i) check(i, contents[i]);
  }
  [[nodiscard]] bool uses_ring() const { return reader_->stats().uses_io_uring; }

 private:
  template <typename Work>
  void time(const std::string& name, Work work) {
    const std::uint64_t wall_begin = wall_ns();
    const std::uint64_t cpu_begin = thread_cpu_ns();
    work();
    samples_.add(name + "/wall", static_cast<double>(wall_ns() - wall_begin));
    samples_.add(name + "/cpu", static_cast<double>(thread_cpu_ns() - cpu_begin));
  }
  void check(std::size_t i, const iceberg::ByteBuffer& bytes) const {
    require(bytes.view() == files_.content(i), "a file was read wrong");
  }

  const SampleFiles& files_;
  Samples& samples_;
  std::unique_ptr<client::FileReader> reader_;
};

}  // namespace

int main(int argc, char** argv) {
  const ScratchDir directory(argument(argc, argv, "--dir", "."));
  const SampleFiles files(directory.path(), number(argc, argv, "--files", 1000),
                          number(argc, argv, "--bytes", 20'480));
  const std::size_t rounds = number(argc, argv, "--rounds", 11);
  const auto what = number(argc, argv, "--drop-names", 0) == 0 ? SampleFiles::Drop::kPages
                                                               : SampleFiles::Drop::kPagesAndNames;
  // Memory that was freed stays: getting it anew from the kernel would be most of a warm read.
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  Samples samples;
  Sides sides(files, samples);
  sides.read_many("first/ours");  // makes the ring
  for (std::size_t round = 0; round < rounds; ++round) {
    files.drop(what);
    sides.read_many("cold/ours");
    files.drop(what);
    sides.read_in_turn("cold/loop");
    sides.read_many("warm/ours");
    sides.read_in_turn("warm/loop");
  }
  samples.add("uses_ring", sides.uses_ring() ? 1 : 0);
  samples.print();
  return 0;
}
