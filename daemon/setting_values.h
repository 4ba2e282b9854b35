// How members of Settings are read from text and shown as text: one SettingValue a kind of member.
//
// Thread safety: constants.
#pragma once

#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "daemon/settings_table.h"

namespace iceblink::daemon {

/// kInvalidArgument, naming the range.
[[nodiscard]] Result<std::uint64_t> number_of(const std::string& text, std::uint64_t min,
                                              std::uint64_t max);

template <auto Member>
void copy_member(const Settings& from, Settings& to) {
  to.*Member = from.*Member;
}

template <auto Member>
Status set_text(Settings& settings, const std::string& text) {
  settings.*Member = text;
  return Ok{};
}
template <auto Member>
std::vector<std::string> get_text(const Settings& settings) {
  return {settings.*Member};
}
/// A text, judged by Set.
template <auto Member, Status (*Set)(Settings&, const std::string&) = set_text<Member>>
inline constexpr SettingValue kTextOf{Set, get_text<Member>, copy_member<Member>};

template <auto Member, std::uint64_t Min, std::uint64_t Max>
Status set_number(Settings& settings, const std::string& text) {
  ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t value, number_of(text, Min, Max));
  auto& member = settings.*Member;
  member = std::remove_reference_t<decltype(member)>(value);
  return Ok{};
}
template <auto Member>
std::vector<std::string> get_number(const Settings& settings) {
  const auto& member = settings.*Member;
  if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(member)>>) {
    return {std::to_string(member)};
  } else {
    return {std::to_string(member.count())};
  }
}
template <auto Member, std::uint64_t Min, std::uint64_t Max>
inline constexpr SettingValue kNumberOf{set_number<Member, Min, Max>, get_number<Member>,
                                        copy_member<Member>};

template <auto Member>
Status set_flag(Settings& settings, const std::string& text) {
  if (text != "true" && text != "false") {
    return {ErrorKind::kInvalidArgument, "'" + text + "' is not true or false"};
  }
  settings.*Member = text == "true";
  return Ok{};
}
template <auto Member>
std::vector<std::string> get_flag(const Settings& settings) {
  return {settings.*Member ? "true" : "false"};
}
template <auto Member>
inline constexpr SettingValue kFlagOf{set_flag<Member>, get_flag<Member>, copy_member<Member>};

/// A list of texts that are not empty.
template <auto Member>
Status add_text(Settings& settings, const std::string& text) {
  if (text.empty()) return {ErrorKind::kInvalidArgument, "'' is nothing"};
  (settings.*Member).push_back(text);
  return Ok{};
}
template <auto Member>
std::vector<std::string> get_texts(const Settings& settings) {
  return settings.*Member;
}
template <auto Member>
void clear_list(Settings& settings) {
  (settings.*Member).clear();
}
template <auto Member>
inline constexpr SettingValue kListOf{add_text<Member>, get_texts<Member>, copy_member<Member>,
                                      clear_list<Member>};

}  // namespace iceblink::daemon
