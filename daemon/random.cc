#include "daemon/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

namespace iceblink::daemon {

Status fill_randomly(std::span<std::byte> bytes) {
  if (::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size())) return Ok{};
  return {ErrorKind::kIo, std::string("getrandom: ") + std::strerror(errno)};
}

Result<iceberg::Uuid> random_uuid() {
  iceberg::Uuid uuid{};
  ICEBLINK_RETURN_IF_ERROR(fill_randomly(std::as_writable_bytes(std::span(uuid))));
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0f) | 0x40);
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3f) | 0x80);
  return uuid;
}

}  // namespace iceblink::daemon
