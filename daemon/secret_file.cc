#include "daemon/secret_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "daemon/owned_fd.h"

namespace iceblink::daemon {
namespace {

constexpr mode_t kOthersMask = S_IRWXG | S_IRWXO;

std::string octal(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

}  // namespace

Result<std::string> read_secret_file(const std::string& path, const std::string& setting,
                                     std::size_t bytes_max) {
  const std::string what = setting + " '" + path + "': ";
  const auto refused = [&](const std::string& why) -> Error {
    return {ErrorKind::kInvalidArgument, what + why};
  };
  const auto failed = [&] { return refused(std::strerror(errno)); };
  // O_NONBLOCK: a FIFO would make the open wait; it has no effect on regular files.
  const OwnedFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) return failed();
  struct stat found {};
  if (::fstat(file.get(), &found) != 0) return failed();
  if (!S_ISREG(found.st_mode)) return refused("not a regular file");
  if (found.st_uid != 0 && found.st_uid != ::geteuid()) {
    return refused("belongs to uid " + std::to_string(found.st_uid) +
                   ", it must belong to root or to uid " + std::to_string(::geteuid()));
  }
  if ((found.st_mode & kOthersMask) != 0) {
    return refused("has mode " + octal(found.st_mode) +
                   ", it must be 0600 or 0400: others could read it");
  }
  std::string bytes(bytes_max + 1, '\0');
  std::size_t size = 0;
  while (size < bytes.size()) {
    const auto got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed();
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
  }
  if (size > bytes_max) return refused("larger than " + std::to_string(bytes_max) + " bytes");
  bytes.resize(size);
  return bytes;
}

}  // namespace iceblink::daemon
