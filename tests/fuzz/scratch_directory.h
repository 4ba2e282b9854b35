// A directory on a tmpfs where there is one, gone with the object.
#pragma once

#include <string>

namespace iceblink::test {

class ScratchDirectory {
 public:
  ScratchDirectory();
  ~ScratchDirectory();
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Takes away everything in it.
  void clear() const;

 private:
  std::string path_;
};

}  // namespace iceblink::test
