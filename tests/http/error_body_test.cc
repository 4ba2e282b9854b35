#include "daemon/http/error_body.h"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace iceblink::daemon::http {
namespace {

TEST(ErrorBody, HoldsMessageTypeAndTheStatusAsCode) {
  const Response response = error_response({404, "NoSuchTableException"}, "Table \"a\" is\n gone");
  EXPECT_EQ(response.status, 404u);
  const auto body = boost::json::parse(response.parts.at(0).text());
  EXPECT_EQ(body.at("error").at("message").as_string(), "Table \"a\" is\n gone");
  EXPECT_EQ(body.at("error").at("type").as_string(), "NoSuchTableException");
  EXPECT_EQ(body.at("error").at("code").as_int64(), 404);
}

TEST(ErrorBody, IsUtf8WhateverTheMessageHolds) {
  for (const std::string bytes :
       {"\xff", "a\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80"}) {
    const Response response = error_response({400, "BadRequestException"}, bytes);
    boost::json::error_code error;
    boost::json::parse(response.parts.at(0).text(), error);
    EXPECT_FALSE(error) << response.parts.at(0).text();
  }
  const Response kept = error_response({400, "BadRequestException"}, "\xC3\xA9");
  EXPECT_EQ(boost::json::parse(kept.parts.at(0).text()).at("error").at("message").as_string(),
            "\xC3\xA9");
}

std::string message_of(const Response& response) {
  return std::string(
      boost::json::parse(response.parts.at(0).text()).at("error").at("message").as_string());
}

TEST(ErrorBody, CutsAMessageThatIsLongBetweenCharacters) {
  const std::string longest(kMessageBytesMax, 'x');
  EXPECT_EQ(message_of(error_response({ErrorKind::kInvalidArgument, longest})), longest);
  for (std::size_t ascii = 0; ascii < 4; ++ascii) {
    std::string text(ascii, 'x');
    while (text.size() < 9'000'000) text += "🧊";
    const std::string message = message_of(error_response({ErrorKind::kInvalidArgument, text}));
    EXPECT_LE(message.size(), kMessageBytesMax);
    EXPECT_GT(message.size(), kMessageBytesMax - 4);
    ASSERT_TRUE(message.ends_with("🧊…"));
    EXPECT_TRUE(text.starts_with(message.substr(0, message.size() - std::string("…").size())));
  }
  const std::string broken(kMessageBytesMax + 1, '\xff');
  EXPECT_EQ(message_of(error_response({ErrorKind::kInvalidArgument, broken})),
            std::string(kMessageBytesMax - 3, '?') + "…");
}

TEST(ErrorBody, TellsARefusedClientWhenToComeBack) {
  EXPECT_EQ(error_response({ErrorKind::kBusy, "queue"}).retry_after_s, 1u);
  EXPECT_FALSE(error_response({ErrorKind::kNotFound, "x"}).retry_after_s.has_value());
}

TEST(ErrorBody, MayChangeWhereAFileWasNotFound) {
  EXPECT_FALSE(error_response({ErrorKind::kNotFound, "x"}).is_final);
  EXPECT_FALSE(commit_refusal_response({Refusal::kNone, {ErrorKind::kNotFound, "x"}, 0}).is_final);
  const Refused no_table{Refusal::kNoSuchTable, {ErrorKind::kNotFound, "x"}, 0};
  EXPECT_TRUE(error_response(no_table).is_final);
  EXPECT_TRUE(error_response({ErrorKind::kInvalidArgument, "x"}).is_final);
}

TEST(RestError, MapsEveryErrorKindToAStatusThatIsAnError) {
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::kInternal); ++kind) {
    const RestError error = rest_error_of(static_cast<ErrorKind>(kind));
    EXPECT_GE(error.status, 400u) << kind;
    EXPECT_FALSE(error.type.empty()) << kind;
  }
  EXPECT_EQ(rest_error_of(ErrorKind::kNoSpace).status, 507u);
  EXPECT_EQ(rest_error_of(ErrorKind::kConflict).status, 409u);
  EXPECT_EQ(rest_error_of(ErrorKind::kGone).type, "GoneException");
}

TEST(RestError, OfARefusalNeverLeavesOpenWhetherItWasDone) {
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::kInternal); ++kind) {
    const Response response = refusal_response({static_cast<ErrorKind>(kind), "x"});
    if (response.status < 500 || response.status == 507) continue;
    EXPECT_EQ(response.status, 503u) << kind;
    EXPECT_TRUE(response.retry_after_s.has_value()) << kind;
  }
  EXPECT_EQ(refusal_response({ErrorKind::kOutOfMemory, "x"}).status, 429u);
}

TEST(RestError, LetsTheRefusalDecideBeforeTheKind) {
  const Refused refused{Refusal::kNoSuchNamespace, {ErrorKind::kNotFound, "x"}, 0};
  EXPECT_EQ(rest_error_of(refused).type, "NoSuchNamespaceException");
  const Refused unprocessable{Refusal::kUnprocessable, {ErrorKind::kInvalidArgument, "x"}, 0};
  EXPECT_EQ(rest_error_of(unprocessable).status, 422u);
  const Refused full{Refusal::kNone, {ErrorKind::kNoSpace, "x"}, 0};
  EXPECT_EQ(rest_error_of(full).type, "InsufficientStorageException");
}

}  // namespace
}  // namespace iceblink::daemon::http
