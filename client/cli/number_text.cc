#include "client/cli/number_text.h"

#include <array>
#include <cstdio>

namespace iceblink::cli {

std::string grouped(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t end = text.size(); end > 3;) {
    end -= 3;
    text.insert(end, ",");
  }
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", value, kUnits[unit]);
  return text.data();
}

std::string duration_text(std::chrono::nanoseconds duration) {
  const auto ms =
      static_cast<std::uint64_t>(duration.count() < 0 ? 0 : duration.count() / 1'000'000);
  const std::uint64_t s = ms / 1000;
  if (s < 1) return std::to_string(ms) + " ms";
  if (s < 60) return std::to_string(s) + " s";
  const std::uint64_t min = s / 60;
  if (min < 60) return std::to_string(min) + " min";
  const std::uint64_t h = min / 60;
  if (h < 48) return std::to_string(h) + " h " + std::to_string(min % 60) + " min";
  return grouped(h / 24) + " days";
}

}  // namespace iceblink::cli
