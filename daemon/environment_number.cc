#include "daemon/environment_number.h"

#include <charconv>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace iceblink::daemon {

std::optional<std::uint64_t> number_in_environment(const char* variable) noexcept {
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::nullopt;
  const std::string_view view(text);
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), number);
  if (error != std::errc{} || end != view.data() + view.size()) return std::nullopt;
  return number;
}

}  // namespace iceblink::daemon
