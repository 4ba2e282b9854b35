#include "daemon/log_event.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "daemon/log_rate.h"

namespace iceblink::daemon {
namespace {

using std::chrono::milliseconds;

TEST(LogEvent, NamesWhatHappenedAndWhatItWasAbout) {
  EXPECT_EQ(event_text("table committed", {{"table", "a.b.t"}, {"generation", 12}}),
            "table committed table=a.b.t generation=12");
  EXPECT_EQ(event_text("stopped", {}), "stopped");
}

TEST(LogEvent, QuotesWhatIsNotPlain) {
  EXPECT_EQ(event_text("e", {{"k", "two words"}}), "e k=\"two words\"");
  EXPECT_EQ(event_text("e", {{"k", ""}}), "e k=\"\"");
  EXPECT_EQ(event_text("e", {{"k", R"(a"b\c)"}}), R"(e k="a\"b\\c")");
  EXPECT_EQ(event_text("e", {{"k", "x=1"}}), "e k=\"x=1\"");
  EXPECT_EQ(event_text("e", {{"k", "é"}}), "e k=\"é\"");
  EXPECT_EQ(event_text("e", {{"k", "\n"}}), "e k=\"\n\"");  // the formatter escapes it
}

TEST(LogEvent, TakesTextAndNumbersOfAnyKind) {
  EXPECT_EQ(event_text("e", {{"a", std::string("s")},
                             {"b", std::string_view("v")},
                             {"c", -1},
                             {"d", ~std::uint64_t{0}}}),
            "e a=s b=v c=-1 d=18446744073709551615");
}

TEST(LogEvent, TakesNoMemoryForItsFields) {
  const std::string text(1000, 'x');
  const LogField field("k", text);
  EXPECT_EQ(field.text().data(), text.data());
  EXPECT_EQ(LogField("k", std::numeric_limits<std::int64_t>::min()).text(), "-9223372036854775808");
  static_assert(std::is_nothrow_constructible_v<LogField, const char*, const std::string&>);
  static_assert(noexcept(log_event(level::err, "e", {{"k", 1}, {"k", "text"}})));
}

TEST(LogEvent, ShowsTheBeginningOfALongValueInWholeCharacters) {
  EXPECT_EQ(shortened("short", 5), "short");
  EXPECT_EQ(shortened("longer", 5), "longe…");
  EXPECT_EQ(shortened("abcdé", 5), "abcd…");
}

TEST(LogRate, LetsTenLinesOfAReasonThroughASecond) {
  LogRate rate;
  const LogRate::Clock::time_point start{};
  for (unsigned i = 0; i < LogRate::kLinesMax; ++i) {
    EXPECT_EQ(rate.take("busy", start + milliseconds(i)), 0u);
  }
  EXPECT_EQ(rate.take("busy", start + milliseconds(500)), std::nullopt);
  EXPECT_EQ(rate.take("busy", start + milliseconds(999)), std::nullopt);
  EXPECT_EQ(rate.take("full", start + milliseconds(999)), 0u) << "another reason";
  EXPECT_EQ(rate.take("busy", start + milliseconds(1000)), 2u) << "what was left out is told";
  EXPECT_EQ(rate.take("busy", start + milliseconds(1001)), 0u) << "once";
}

}  // namespace
}  // namespace iceblink::daemon
