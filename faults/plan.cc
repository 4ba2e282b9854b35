#include "faults/plan.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <utility>

namespace iceblink::faults {
namespace {

constexpr double kMeansMax = 20;

/// Takes what stands before the next `separator` off `rest`.
std::string_view take(std::string_view& rest, char separator) noexcept {
  const auto end = std::min(rest.find(separator), rest.size());
  const auto part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

bool parse_number(std::string_view text, std::uint64_t& number) noexcept {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

bool copy_path(std::string_view path, char (&to)[Plan::kPathBytesMax]) noexcept {
  if (path.empty() || path.size() >= Plan::kPathBytesMax) return false;
  std::copy(path.begin(), path.end(), to);
  to[path.size()] = '\0';
  return true;
}

bool parse_fault(Action action, std::string_view rest, Plan& plan) noexcept {
  const auto call = call_named(take(rest, ':'));
  if (!call || plan.action != Action::kNone) return false;
  plan.action = action;
  plan.call = *call;
  if (!parse_number(take(rest, ':'), plan.at_number) || plan.at_number == 0) return false;
  if (action == Action::kShort) return rest.empty();
  plan.error = error_named(rest);
  return plan.error != 0;
}

bool parse_element(std::string_view element, Plan& plan) noexcept {
  const auto mode = take(element, ':');
  if (mode == "slow") {
    return parse_number(take(element, ':'), plan.seed) &&
           parse_number(element, plan.delay_mean_us) && plan.delay_mean_us > 0;
  }
  if (mode == "fail") return parse_fault(Action::kFail, element, plan);
  if (mode == "short") return parse_fault(Action::kShort, element, plan);
  if (mode == "page") return copy_path(element, plan.page_file);
  if (mode == "record") return copy_path(element, plan.record_file);
  return false;
}

/// SplitMix64, of one number.
std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

}  // namespace

bool parse_plan(std::string_view text, Plan& plan) noexcept {
  if (text.empty()) return false;
  while (!text.empty()) {
    if (!parse_element(take(text, ','), plan)) return false;
  }
  return true;
}

std::uint64_t delay_us(const Plan& plan, std::uint64_t index) noexcept {
  // Of (0, 1].
  const double chance = static_cast<double>((mix(plan.seed ^ mix(index)) >> 11) + 1) * 0x1p-53;
  const double means = std::min(-std::log(chance), kMeansMax);
  return static_cast<std::uint64_t>(means * static_cast<double>(plan.delay_mean_us));
}

int error_named(std::string_view name) noexcept {
  constexpr std::pair<std::string_view, int> kErrors[] = {{"EAGAIN", EAGAIN},
                                                          {"ECONNABORTED", ECONNABORTED},
                                                          {"ECONNRESET", ECONNRESET},
                                                          {"EDQUOT", EDQUOT},
                                                          {"EFBIG", EFBIG},
                                                          {"EINTR", EINTR},
                                                          {"EIO", EIO},
                                                          {"EMFILE", EMFILE},
                                                          {"ENFILE", ENFILE},
                                                          {"ENOBUFS", ENOBUFS},
                                                          {"ENOMEM", ENOMEM},
                                                          {"ENOSPC", ENOSPC},
                                                          {"EPIPE", EPIPE}};
  for (const auto& [known, number] : kErrors) {
    if (known == name) return number;
  }
  return 0;
}

}  // namespace iceblink::faults
