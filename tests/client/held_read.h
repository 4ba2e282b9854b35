// A read that hangs, for as long as a test wants it to.
#pragma once

#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/client/file_fixture.h"

namespace iceblink::client::testing {

/// A thread in the middle of a read, until it is let go.
class HeldRead {
 public:
  HeldRead(FileReader& reader, std::vector<std::string> paths)
      : thread_([this, &reader, paths = std::move(paths)] {
          files = batch_of(paths);
          const auto hold = [this](std::size_t, std::size_t) {
            if (std::exchange(is_first_, false)) {
              reached_.count_down();
              go_.wait();
            }
          };
          if (files.size() == 1) {
            files[0].content = reader.read(files[0].location, kBytesMax, hold);
          } else {
            reader.read_many(files, kBytesMax, hold);
          }
        }) {
    reached_.wait();
  }
  ~HeldRead() { let_go(); }
  void let_go() {
    if (!thread_.joinable()) return;
    go_.count_down();
    thread_.join();
  }
  std::vector<FileRead> files;

 private:
  bool is_first_ = true;
  std::latch reached_{1};
  std::latch go_{1};
  std::thread thread_;
};

}  // namespace iceblink::client::testing
