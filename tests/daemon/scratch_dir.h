// A directory of a test's own, removed with all that is in it. On tmpfs, where a durable commit
// costs nothing.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace iceblink::test {

class ScratchDir {
 public:
  explicit ScratchDir(const std::string& parent = "/dev/shm") {
    std::string pattern = parent + "/iceblink-test-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp " + pattern);
    path_ = pattern;
  }
  ~ScratchDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string operator/(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }
  /// Writes a file of this name, and returns its path.
  std::string write(std::string_view name, std::string_view bytes) const {
    std::string path = *this / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

 private:
  std::string path_;
};

}  // namespace iceblink::test
