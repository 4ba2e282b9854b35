#include "daemon/http/request_id.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>

#include "daemon/wall_clock.h"

namespace iceblink::daemon::http {
namespace {

constexpr int kBase = 36;

std::string in_base_36(std::uint64_t number) {
  char digits[16];
  const auto [end, error] = std::to_chars(std::begin(digits), std::end(digits), number, kBase);
  return {digits, end};
}

// Seconds tell starts apart, and still fit in a short string with the counter.
const std::string& start_part() {
  static const std::string part = in_base_36(static_cast<std::uint64_t>(now_ms() / 1000)) + "-";
  return part;
}

std::string make_id() {
  static std::atomic<std::uint64_t> count{0};
  // relaxed: only its being another number matters
  return start_part() + in_base_36(count.fetch_add(1, std::memory_order_relaxed));
}

}  // namespace

std::string request_id_of(std::string_view sent) {
  const bool is_taken = !sent.empty() && sent.size() <= kRequestIdBytesMax &&
                        std::ranges::all_of(sent, [](char c) { return c > ' ' && c <= '~'; });
  return is_taken ? std::string(sent) : make_id();
}

}  // namespace iceblink::daemon::http
