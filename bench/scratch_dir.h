// A directory that is gone again at the end.
//
// Thread safety: a value of one thread.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "bench/measurement.h"

namespace iceblink::bench {

class ScratchDir {
 public:
  /// Below `parent`, which is made when it is missing.
  explicit ScratchDir(const std::string& parent) {
    std::filesystem::create_directories(parent);
    path_ = parent + "/iceblink-bench-XXXXXX";
    require(::mkdtemp(path_.data()) != nullptr, "cannot make a scratch directory");
  }
  ~ScratchDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace iceblink::bench
