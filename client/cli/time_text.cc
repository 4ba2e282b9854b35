#include "client/cli/time_text.h"

#include <charconv>
#include <chrono>

#include "client/cli/output.h"

namespace iceblink::cli {
namespace {

constexpr std::int64_t kSecondMs = 1000;
constexpr std::int64_t kMinuteMs = 60 * kSecondMs;
constexpr std::int64_t kHourMs = 60 * kMinuteMs;
constexpr std::int64_t kDayMs = 24 * kHourMs;

/// Takes a text apart from its front.
class TimeText {
 public:
  explicit TimeText(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }
  [[nodiscard]] bool begins_with(char c) const noexcept { return rest_.starts_with(c); }
  bool skip(char c) noexcept {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// As many digits as that, and a value of at most `max`.
  [[nodiscard]] std::optional<std::int64_t> number(std::size_t digits,
                                                   std::int64_t max = 9999) noexcept {
    std::int64_t value = 0;
    if (rest_.size() < digits) return std::nullopt;
    for (const char c : rest_.substr(0, digits)) {
      if (c < '0' || c > '9') return std::nullopt;
      value = value * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return value <= max ? std::optional(value) : std::nullopt;
  }
  /// At least one digit; what is below a millisecond is dropped.
  [[nodiscard]] std::optional<std::int64_t> fraction_ms() noexcept {
    std::int64_t value = 0;
    std::int64_t unit = kSecondMs / 10;
    auto digit = number(1);
    if (!digit) return std::nullopt;
    for (; digit; digit = rest_.empty() ? std::nullopt : number(1)) {
      value += *digit * unit;
      unit /= 10;
    }
    return value;
  }

 private:
  std::string_view rest_;
};

std::optional<std::int64_t> date_ms(TimeText& text) noexcept {
  const auto year = text.number(4);
  if (!year || !text.skip('-')) return std::nullopt;
  const auto month = text.number(2);
  if (!month || !text.skip('-')) return std::nullopt;
  const auto day = text.number(2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok()) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * kDayMs;
}

/// Hours and minutes; seconds and their fraction may follow.
std::optional<std::int64_t> time_of_day_ms(TimeText& text) noexcept {
  const auto hours = text.number(2, 23);
  if (!hours || !text.skip(':')) return std::nullopt;
  const auto minutes = text.number(2, 59);
  if (!minutes) return std::nullopt;
  const std::int64_t ms = *hours * kHourMs + *minutes * kMinuteMs;
  if (!text.skip(':')) return ms;
  const auto seconds = text.number(2, 59);
  if (!seconds) return std::nullopt;
  if (!text.skip('.')) return ms + *seconds * kSecondMs;
  const auto fraction = text.fraction_ms();
  if (!fraction) return std::nullopt;
  return ms + *seconds * kSecondMs + *fraction;
}

/// What has to be taken away to be in UTC: nothing for "Z" and for no offset.
std::optional<std::int64_t> offset_ms(TimeText& text) noexcept {
  if (text.is_at_end() || text.skip('Z') || text.skip('z')) return 0;
  const std::int64_t sign = text.begins_with('-') ? -1 : 1;
  if (!text.skip('+') && !text.skip('-')) return std::nullopt;
  const auto hours = text.number(2, 23);
  if (!hours) return std::nullopt;
  if (text.is_at_end()) return sign * *hours * kHourMs;
  text.skip(':');
  const auto minutes = text.number(2, 59);
  if (!minutes) return std::nullopt;
  return sign * (*hours * kHourMs + *minutes * kMinuteMs);
}

}  // namespace

std::string time_of(std::int64_t ms) {
  std::string text = ms < 0 ? "" : to_utc(static_cast<std::uint64_t>(ms / kSecondMs));
  return text.empty() ? std::to_string(ms) + " ms" : text;
}

std::string exact_time_of(std::int64_t ms) {
  std::string text = time_of(ms);
  if (!text.ends_with('Z')) return text;
  const std::string fraction = std::to_string(kSecondMs + ms % kSecondMs);  // four digits
  text.pop_back();
  return text + '.' + fraction.substr(1) + 'Z';
}

std::optional<std::int64_t> parse_time(std::string_view text) noexcept {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  TimeText rest(text);
  const auto date = date_ms(rest);
  if (!date || rest.is_at_end()) return date;
  if (!rest.skip('T') && !rest.skip('t') && !rest.skip(' ')) return std::nullopt;
  const auto time = time_of_day_ms(rest);
  if (!time) return std::nullopt;
  const auto offset = offset_ms(rest);
  if (!offset || !rest.is_at_end()) return std::nullopt;
  return *date + *time - *offset;
}

}  // namespace iceblink::cli
