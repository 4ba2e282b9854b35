// Who may do what over the Unix socket.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/http/access_rules.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using daemon::PeerList;
using daemon::http::AccessRules;
using daemon::http::unmapped_id;
using daemon::http::UnmappedIds;
using ::testing::HasSubstr;

// Numbers that no user and no group of a host has.
constexpr unsigned kReaders = 420'001;
constexpr unsigned kWriters = 420'002;
constexpr unsigned kWritingUser = 420'003;
constexpr unsigned kStranger = 420'004;

PeerList configured(std::vector<std::string> names) {
  return {.names = std::move(names), .is_configured = true};
}

class OtherUsers : public DaemonTest {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can be other users";
    auto settings = settings_in(scratch());
    settings.readers = configured({"@" + std::to_string(kReaders)});
    settings.writers = configured({"@" + std::to_string(kWriters), std::to_string(kWritingUser)});
    start_open(settings);
  }
  /// What keeps others away before they reach the socket is not what is tested here.
  void start_open(const daemon::Settings& settings) {
    start(settings);
    ::chmod(scratch().path().c_str(), 0755);
    ::chmod(settings.runtime_dir.c_str(), 0755);
    ::chmod(daemon().socket_path().c_str(), 0666);
  }
  HttpClient connect_as(const Identity& who) {
    return HttpClient::to_unix_as(daemon().socket_path(), who);
  }
  HttpResponse ask(const Identity& who, const HttpRequest& request) {
    return connect_as(who).request(request);
  }
};

const Identity kNobody{.uid = kStranger, .gid = kStranger};
const Identity kReader{.uid = kStranger, .gid = kStranger, .groups = {7, kReaders}};
const HttpRequest kCreation{
    .verb = "POST", .target = "/v1/namespaces", .body = R"({"namespace":["a"]})"};

TEST_F(OtherUsers, ThatHaveNoRightGetNothingButTheHealth) {
  for (const char* target :
       {"/v1/namespaces", "/v1/config", "/metrics", "/iceblink/v1/changes?since=0", "/no/such/path",
        "/v1/namespaces/%zz"}) {
    const auto refused = ask(kNobody, {.target = target});
    EXPECT_EQ(refused.status, 403) << target;
    EXPECT_EQ(refused.error_type(), "ForbiddenException");
    EXPECT_EQ(refused.error_message(), "uid " + std::to_string(kStranger) +
                                           " may not read: not among the readers of this catalog");
  }
  EXPECT_EQ(ask(kNobody, {.verb = "HEAD", .target = "/v1/namespaces"}).status, 403);
  EXPECT_EQ(ask(kNobody, {.verb = "DELETE", .target = "/v1/namespaces/a"}).status, 403);
  EXPECT_EQ(ask(kNobody, kCreation).status, 403);
  for (const char* target : {"/healthz", "/readyz"}) {
    EXPECT_EQ(ask(kNobody, {.target = target}).status, 200) << target;
    EXPECT_EQ(ask(kNobody, {.verb = "HEAD", .target = target}).status, 200) << target;
  }
}

TEST_F(OtherUsers, ThatHaveNoRightAreToldSoBeforeTheySendABody) {
  auto client = connect_as(kNobody);
  client.send(
      "POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
      "Content-Length: 10000000\r\n\r\n");
  const auto refused = client.receive();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 403);
  EXPECT_EQ(refused->header("connection"), "close");
  EXPECT_TRUE(client.sees_end());
}

TEST_F(OtherUsers, ThatReadDoNotWrite) {
  auto client = connect_as(kReader);
  EXPECT_EQ(client.get("/v1/namespaces").status, 200);
  EXPECT_EQ(client.get("/metrics").status, 200);
  const auto refused = client.request(kCreation);
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(refused.error_message(), "uid " + std::to_string(kStranger) +
                                         " may not write: not among the writers of this catalog");
  for (const char* target :
       {"/v1/namespaces/a/tables", "/v1/namespaces/a/tables/t", "/v1/namespaces/a/register",
        "/v1/namespaces/a/properties", "/v1/namespaces/a/views", "/v1/namespaces/a/views/v",
        "/v1/namespaces/a/register-view", "/v1/namespaces/a/tables/t/unregister",
        "/v1/tables/rename", "/v1/views/rename", "/v1/transactions/commit", "/iceblink/v1/batch"}) {
    EXPECT_EQ(client.post(target, "{}").status, 403) << target;
  }
  for (const char* target :
       {"/v1/namespaces/a", "/v1/namespaces/a/tables/t", "/v1/namespaces/a/views/v"}) {
    EXPECT_EQ(client.del(target).status, 403) << target;
  }
  EXPECT_EQ(client.get("/v1/namespaces").json().at("namespaces").as_array().size(), 0u);
}

TEST_F(OtherUsers, ThatReadReportWhatTheyScanned) {
  create_namespace(R"(["a"])");
  register_table("a", "t", write_table("t.json"));
  EXPECT_EQ(connect_as(kReader)
                .post("/v1/namespaces/a/tables/t/metrics", R"({"report-type":"scan-report"})")
                .status,
            204);
}

TEST_F(OtherUsers, ThatReadStoreNothingByAKey) {
  create_namespace(R"(["a"])");
  register_table("a", "t", write_table("t.json"));
  HttpRequest report{.verb = "POST",
                     .target = "/v1/namespaces/a/tables/t/metrics",
                     .body = R"({"report-type":"scan-report"})",
                     .headers = {"Idempotency-Key: 018f0000-0000-7000-8000-000000000002"}};
  EXPECT_EQ(ask(kReader, report).status, 204);
  report.target = "/v1/namespaces/a/tables/none/metrics";
  EXPECT_EQ(ask(kReader, report).status, 404) << "a key without effect";
  report.headers = {"Idempotency-Key: x"};
  EXPECT_EQ(ask(kReader, report).status, 400);
  EXPECT_THAT(connect().get("/metrics").body, HasSubstr("\niceblink_idempotency_keys 0\n"));
}

TEST_F(OtherUsers, WriteByTheirGroupsAndByTheirOwnNumber) {
  int number = 0;
  for (const Identity& writer : {Identity{.uid = kStranger, .gid = kStranger, .groups = {kWriters}},
                                 Identity{.uid = kStranger, .gid = kWriters, .groups = {}},
                                 Identity{.uid = kWritingUser, .gid = kStranger, .groups = {}}}) {
    const std::string name = "n" + std::to_string(number++);
    auto client = connect_as(writer);
    EXPECT_EQ(client.post("/v1/namespaces", R"({"namespace":[")" + name + "\"]}").status, 200);
    EXPECT_EQ(client.get("/v1/namespaces/" + name).status, 200);
  }
}

TEST_F(OtherUsers, AreKnownByGroupsHoweverManyTheyHave) {
  Identity member = kReader;
  for (unsigned group = 1000; group < 1200; ++group) member.groups.push_back(group);
  EXPECT_EQ(ask(member, {.target = "/v1/namespaces"}).status, 200);
  member.groups.erase(member.groups.begin() + 1);
  EXPECT_EQ(ask(member, {.target = "/v1/namespaces"}).status, 403);
}

TEST_F(OtherUsers, HaveNoRightUnlessSomebodyGaveItToThem) {
  start_open(settings_in(scratch()));
  EXPECT_EQ(ask(kNobody, {.target = "/v1/namespaces"}).status, 403);
  auto closed = settings_in(scratch());
  closed.readers = closed.writers = configured({});
  start_open(closed);
  EXPECT_EQ(ask(kReader, {.target = "/v1/namespaces"}).status, 403);
  EXPECT_EQ(connect().get("/v1/namespaces").status, 200);  // root
}

TEST_F(OtherUsers, AreNotGivenTheAnswersToTheKeysOfOthers) {
  const std::string key = "Idempotency-Key: 018f0000-0000-7000-8000-000000000001";
  HttpRequest creation = kCreation;
  creation.headers = {key};
  EXPECT_EQ(connect().request(creation).status, 200);
  EXPECT_EQ(ask(kNobody, creation).status, 403);
  EXPECT_EQ(ask(kReader, creation).status, 403);
  EXPECT_EQ(connect().request(creation).status, 200);
}

TEST(AccessRules, TakeNamesAndNumbers) {
  const auto rules = AccessRules::of(configured({"@root", "1234"}), configured({"@55", "root"}));
  ASSERT_TRUE(rules.ok()) << rules.error().message();
  const auto access = [&](uid_t uid, gid_t gid) {
    return rules->access_of({.uid = uid, .gid = gid, .pid = 1, .groups = {}});
  };
  using enum daemon::http::Access;
  EXPECT_EQ(access(0, 9), kWrite);
  EXPECT_EQ(access(::geteuid(), 9), kWrite);
  EXPECT_EQ(access(kStranger, 55), kWrite);
  EXPECT_EQ(access(kStranger, 0), kRead);
  EXPECT_EQ(access(1234, 9), kRead);
  EXPECT_EQ(access(kStranger, 1234), kNone);
  EXPECT_EQ(access(55, 9), kNone);
}

TEST(AccessRules, NameWhatThisHostDoesNotHaveIfSomebodyAskedForIt) {
  const PeerList nowhere{.names = {"@no-such-group"}};
  EXPECT_TRUE(AccessRules::of(nowhere, nowhere).ok());
  const auto no_group = AccessRules::of(configured({"@no-such-group"}), {});
  ASSERT_FALSE(no_group.ok());
  EXPECT_EQ(no_group.error().message(), "readers: there is no group 'no-such-group' on this host");
  const auto no_user = AccessRules::of({}, configured({"root", "no-such-user"}));
  ASSERT_FALSE(no_user.ok());
  EXPECT_EQ(no_user.error().message(), "writers: there is no user 'no-such-user' on this host");
  for (const char* bad : {"4294967295", "-1", "99999999999", "1000x", "@-1"}) {
    EXPECT_FALSE(AccessRules::of(configured({bad}), {}).ok()) << bad;
  }
}

TEST(UnmappedIds, AreNobody) {
  constexpr UnmappedIds kUnmapped{.user = 65534, .group = 65533};
  const PeerList default_writers{.names = {"@65533", "65534", "@420001"}};
  const auto rules = AccessRules::of(configured({"1234"}), default_writers, kUnmapped);
  ASSERT_TRUE(rules.ok()) << rules.error().message();
  const auto access = [&](uid_t uid, gid_t gid, std::vector<gid_t> groups = {}) {
    return rules->access_of({.uid = uid, .gid = gid, .pid = 1, .groups = std::move(groups)});
  };
  using enum daemon::http::Access;
  EXPECT_EQ(access(65534, 65533), kNone);
  EXPECT_EQ(access(kStranger, 9, {65533}), kNone);
  EXPECT_EQ(access(65534, 9, {65533, 420001}), kWrite) << "that group is mapped";
  EXPECT_EQ(access(1234, 65533), kRead);
  EXPECT_EQ(access(0, 65533), kWrite);
  const AccessRules unmapped_daemon(UnmappedIds{.user = ::geteuid(), .group = {}});
  EXPECT_EQ(unmapped_daemon.access_of({.uid = ::geteuid(), .gid = 9, .pid = 1, .groups = {}}),
            kNone)
      << "the daemon's own number is everybody's";
}

TEST(UnmappedIds, AreNoUserOfARule) {
  constexpr UnmappedIds kUnmapped{.user = 65534, .group = 65533};
  for (const char* bad : {"65534", "@65533"}) {
    const auto rules = AccessRules::of({}, configured({bad}), kUnmapped);
    ASSERT_FALSE(rules.ok()) << bad;
    EXPECT_EQ(rules.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(rules.error().message(), HasSubstr("writers: '" + std::string(bad) + "'"));
    EXPECT_THAT(rules.error().message(), HasSubstr("not mapped"));
  }
  EXPECT_TRUE(AccessRules::of(configured({"65534", "@65533"}), {}, UnmappedIds{}).ok())
      << "where all are mapped these are users like others";
}

TEST(UnmappedIds, AreThereUnlessTheMapIsTheWhole) {
  EXPECT_EQ(unmapped_id("         0          0 4294967295\n", "65534\n"), std::nullopt);
  EXPECT_EQ(unmapped_id("         0     100000      65536\n", "65534\n"), uid_t{65534});
  EXPECT_EQ(unmapped_id("         0          0          1\n", "99\n"), uid_t{99});
  EXPECT_EQ(unmapped_id("0 0 10\n10 10 4294967285\n", "65534\n"), uid_t{65534});
  EXPECT_EQ(unmapped_id("", ""), uid_t{65534}) << "nobody says";
}

}  // namespace
}  // namespace iceblink::test
