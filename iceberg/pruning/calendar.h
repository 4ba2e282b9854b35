// Days and dates of the proleptic Gregorian calendar, for years beyond those of std::chrono.
#pragma once

#include <chrono>
#include <cstdint>

#include "iceberg/pruning/wide_integer.h"

namespace iceblink::iceberg {

inline constexpr std::int64_t kDaysInCycle = 146097;  // after 400 years the calendar repeats
inline constexpr std::int64_t kSecondsInDay = 86400;

struct CivilDate {
  std::int64_t year = 1970;
  unsigned month = 1;
  unsigned day = 1;
};

/// `days` since 1970-01-01.
[[nodiscard]] constexpr CivilDate civil_date(std::int64_t days) noexcept {
  const std::int64_t cycle = floor_divide(days, kDaysInCycle);
  const std::chrono::days in_cycle(static_cast<int>(floor_modulo(days, kDaysInCycle)));
  const std::chrono::year_month_day date{std::chrono::sys_days(in_cycle)};
  return {static_cast<int>(date.year()) + cycle * 400, static_cast<unsigned>(date.month()),
          static_cast<unsigned>(date.day())};
}

/// Since 1970-01-01, of a month from 1 to 12 and a day that may be beyond its end. The year is
/// within ±2^40.
[[nodiscard]] constexpr std::int64_t days_since_epoch(const CivilDate& date) noexcept {
  const std::int64_t cycle = floor_divide<std::int64_t>(date.year - 1970, 400);
  const std::chrono::year_month_day first{
      std::chrono::year(static_cast<int>(date.year - cycle * 400)), std::chrono::month(date.month),
      std::chrono::day(1)};
  return std::chrono::sys_days(first).time_since_epoch().count() + (date.day - 1) +
         cycle * kDaysInCycle;
}

[[nodiscard]] constexpr bool is_date(const CivilDate& date) noexcept {
  if (date.month < 1 || date.month > 12 || date.day < 1 || date.day > 31) return false;
  return civil_date(days_since_epoch(date)).month == date.month;
}

}  // namespace iceblink::iceberg
