#include "daemon/log_format.h"

#include <gmock/gmock.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <sstream>

namespace iceblink::daemon {
namespace {

TEST(LogFormat, KeepsAnEventOnOneLine) {
  std::ostringstream out;
  spdlog::logger logger("x", std::make_shared<spdlog::sinks::ostream_sink_mt>(out));
  logger.set_formatter(one_line_formatter());
  logger.error("table {}: gone", "a.\n[error] forged\r\x1b[2J\xC3\xA9");
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_THAT(text, ::testing::HasSubstr("[x] [error] table a.\\x0a[error] forged\\x0d\\x1b[2J"
                                         "\xC3\xA9: gone\n"));
}

}  // namespace
}  // namespace iceblink::daemon
