// The error of an update that cannot be applied.
#pragma once

#include <iceblink/result.h>

#include <string>
#include <utility>

namespace iceblink::iceberg {

[[nodiscard]] inline Error refusal(std::string message) {
  return {ErrorKind::kInvalidArgument, std::move(message)};
}

}  // namespace iceblink::iceberg
