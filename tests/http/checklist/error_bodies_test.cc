// Every error has a body that says what, which kind and which status, also where no handler ran.
#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

class ErrorBodies : public ChecklistTest {
 protected:
  /// Bytes as they are, on a connection of their own.
  std::optional<HttpResponse> exchange(const std::string& bytes) {
    auto client = connect();
    client.send(bytes);
    client.end_sending();
    return client.receive();
  }
  static std::vector<std::string> verbs_of(const std::string& allow) {
    std::vector<std::string> verbs;
    for (std::size_t from = 0; from < allow.size();) {
      const auto end = std::min(allow.find(", ", from), allow.size());
      verbs.push_back(allow.substr(from, end - from));
      from = end + 2;
    }
    return verbs;
  }
};

TEST_F(ErrorBodies, AreThereWithoutARoute) {
  for (const auto& target : {"/", "/v1", "/v1/", "/v2/namespaces", "/v1/namespaces/a/b/c/d/e",
                             "/v1/tables", "/v1/transactions", "/V1/config", "/v1/config/"}) {
    const auto answer = send({.target = target});
    EXPECT_THAT(answer, HasStatus(404)) << target;
    expect_error_body(answer);
    EXPECT_THAT(answer.error_message(), HasSubstr(target));
  }
}

TEST_F(ErrorBodies, SayWhichVerbsAPathHas) {
  struct Row {
    const char* verb;
    const char* target;
    std::vector<std::string> allowed;
  };
  for (const auto& [verb, target, allowed] : {
           Row{"PUT", "/v1/namespaces", {"GET", "HEAD", "POST"}},
           Row{"PATCH", "/v1/namespaces/ns/tables/t", {"GET", "HEAD", "POST", "DELETE"}},
           Row{"GET", "/v1/namespaces/ns/register", {"POST"}},
           Row{"DELETE", "/v1/namespaces/ns/views", {"GET", "HEAD", "POST"}},
           Row{"GET", "/v1/transactions/commit", {"POST"}},
           Row{"GET", "/v1/tables/rename", {"POST"}},
           Row{"POST", "/v1/config", {"GET", "HEAD"}},
       }) {
    const auto answer = send({.verb = verb, .target = target, .body = "{}"});
    EXPECT_THAT(answer, HasStatus(405)) << verb << " " << target;
    expect_error_body(answer);
    EXPECT_THAT(verbs_of(answer.header("allow")), ::testing::UnorderedElementsAreArray(allowed))
        << target;
  }
}

TEST_F(ErrorBodies, AreNotThereForHead) {
  for (const auto& target : {"/ns/tables/none", "/none", "/ns/views/none", "/ns/tables/%FF"}) {
    const auto answer = head(target);
    EXPECT_GE(answer.status, 400) << target;
    EXPECT_EQ(answer.body, "");
  }
}

TEST_F(ErrorBodies, AreThereForBodiesThatAreTooLarge) {
  auto small = settings();
  small.body_bytes_max = 4096;
  start(small);
  const auto answer = create(named(std::string(5000, 'x')));
  EXPECT_THAT(answer, HasStatus(413));
  expect_error_body(answer);
}

TEST_F(ErrorBodies, AreThereWhereTheRequestIsNoHttp) {
  for (const std::string& bytes : std::vector<std::string>{
           "GET\r\n\r\n", "GET /v1/config\r\n\r\n",
           "GET /v1/config HTTP/1.1\r\n\r\n",  // no Host
           "GET /v1/config HTTP/9.1\r\nHost: a\r\n\r\n",
           "GET /v1/config HTTP/1.1\r\nHost: a\r\nA B: c\r\n\r\n",
           "G\x01T /v1/config HTTP/1.1\r\nHost: a\r\n\r\n",
           "POST /v1/namespaces HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
           "POST /v1/namespaces HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n"
           "Content-Length: 3\r\n\r\n{}",
           "POST /v1/namespaces HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
           "Content-Length: 2\r\n\r\n{}",
           "POST /v1/namespaces HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    const auto answer = exchange(bytes);
    ASSERT_TRUE(answer.has_value()) << bytes;
    EXPECT_GE(answer->status, 400) << bytes;
    EXPECT_NE(answer->status, 500) << bytes;
    expect_error_body(*answer);
  }
  EXPECT_THAT(get(""), HasStatus(200));
}

TEST_F(ErrorBodies, AreJsonWhateverTheNameOrTheMessage) {
  for (const auto& name : {"\"quoted\"", "back\\slash", "é🧊", "a/b", "tab'"}) {
    std::string encoded;
    for (const unsigned char c : std::string(name)) {
      const char digits[] = "0123456789ABCDEF";
      encoded += {'%', digits[c >> 4], digits[c & 15]};
    }
    const auto answer = get(table(encoded));
    EXPECT_THAT(answer, IsError(404, "NoSuchTableException", HasSubstr(name)));
    expect_error_body(answer);
  }
}

TEST_F(ErrorBodies, HaveTheTypesThatClientsLookAt) {
  create_rich_table("t");
  create_rich_view("v");
  const auto has = [](int status, const char* type) {
    return IsError(status, type, ::testing::Not(std::string()));
  };
  EXPECT_THAT(get("/none"), has(404, "NoSuchNamespaceException"));
  EXPECT_THAT(get("/none/tables"), has(404, "NoSuchNamespaceException"));
  EXPECT_THAT(get("/none/views"), has(404, "NoSuchNamespaceException"));
  EXPECT_THAT(post("/none/tables", named("x")), has(404, "NoSuchNamespaceException"));
  EXPECT_THAT(del("/none"), has(404, "NoSuchNamespaceException"));
  EXPECT_THAT(get(table("none")), has(404, "NoSuchTableException"));
  EXPECT_THAT(get("/none/tables/t"), has(404, "NoSuchTableException"));
  EXPECT_THAT(get(table("v")), has(404, "NoSuchTableException"));
  EXPECT_THAT(del(table("none")), has(404, "NoSuchTableException"));
  EXPECT_THAT(update(table("none"), ""), has(404, "NoSuchTableException"));
  EXPECT_THAT(get(view("none")), has(404, "NoSuchViewException"));
  EXPECT_THAT(get(view("t")), has(404, "NoSuchViewException"));
  EXPECT_THAT(update(view("none"), ""), has(404, "NoSuchViewException"));
  EXPECT_THAT(del(view("none")), has(404, "NoSuchViewException"));
  EXPECT_THAT(create(named("t")), has(409, "AlreadyExistsException"));
  EXPECT_THAT(create(named("v")), has(409, "AlreadyExistsException"));
  EXPECT_THAT(post_text("", R"({"namespace":["ns"]})"), has(409, "AlreadyExistsException"));
  EXPECT_THAT(del("/ns"), has(409, "NamespaceNotEmptyException"));
  EXPECT_THAT(require(table("t"), R"({"type":"assert-create"})"),
              has(409, "CommitFailedException"));
  EXPECT_THAT(update(table("t"), "{}"), has(400, "IllegalArgumentException"));
  EXPECT_THAT(post_text("/ns/properties", R"({"removals":["a"],"updates":{"a":"b"}})"),
              has(422, "UnprocessableEntityException"));
}

TEST_F(ErrorBodies, SayWhatAMetadataTableIsNot) {
  create_table("t");
  // A client that asks for the metadata table ns.t.files.
  EXPECT_THAT(
      get("/ns%1Ft/tables/files"),
      IsError(404, "NoSuchTableException", std::string("Table does not exist: ns.t.files")));
  EXPECT_THAT(head("/ns%1Ft/tables/files"), HasStatus(404));
}

}  // namespace
}  // namespace iceblink::test
