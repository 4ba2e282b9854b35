#include "tests/fuzz/scratch_directory.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace iceblink::test {

namespace fs = std::filesystem;

ScratchDirectory::ScratchDirectory() {
  path_ = fs::exists("/dev/shm") ? "/dev/shm/iceblink-fuzz-XXXXXX" : "/tmp/iceblink-fuzz-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) std::abort();
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code error;
  fs::remove_all(path_, error);
}

void ScratchDirectory::clear() const {
  for (const auto& entry : fs::directory_iterator(path_)) fs::remove_all(entry.path());
}

}  // namespace iceblink::test
