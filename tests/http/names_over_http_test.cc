#include <gmock/gmock.h>

#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>

#include "tests/http/request_bodies.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

class NamesOverHttp : public DaemonTest {
 protected:
  HttpResponse register_named(const std::string& raw_namespace, const std::string& name) {
    return connect().post(
        "/v1/namespaces/" + raw_namespace + "/register",
        R"({"name":)" + quoted(name) + R"(,"metadata-location":")" + write_table("t.json") + "\"}");
  }
  static std::string quoted(const std::string& text) {
    return boost::json::serialize(boost::json::string_view(text));
  }
  // As an RFC 3986 client does; with '+' for a space, as a form-encoding one does.
  static std::string encoded(const std::string& text, bool is_form = false) {
    constexpr char kHex[] = "0123456789ABCDEF";
    std::string out;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
        out += c;
      } else if (is_form && c == ' ') {
        out += '+';
      } else {
        out += '%';
        out += kHex[byte >> 4];
        out += kHex[byte & 15];
      }
    }
    return out;
  }
};

TEST_F(NamesOverHttp, AreKeptWhateverTheyHold) {
  auto client = connect();
  for (const std::string name : {"new.db", "new/db", "a b", "a+b", "say \"hi\"", "back\\slash",
                                 "\xC3\xA9\xE6\xBC\xA2", "\xF0\x9F\xA7\x8A", "a%20b", "a%1fb",
                                 "?q=1&x#y", "..", ".", "{namespace}", "A", "a\tb\n"}) {
    create_namespace("[" + quoted(name) + "]");
    EXPECT_EQ(register_named(encoded(name), name).status, 200) << name;
    for (const bool is_form : {false, true}) {
      const auto raw = encoded(name, is_form);
      EXPECT_EQ(client.head("/v1/namespaces/" + raw).status, 204) << name;
      EXPECT_EQ(client.head("/v1/namespaces/" + raw + "/tables/" + raw).status, 204) << name;
      const auto listed = client.get("/v1/namespaces/" + raw + "/tables").json();
      EXPECT_EQ(listed.at("identifiers").at(0).at("name").as_string(), name);
      EXPECT_EQ(listed.at("identifiers").at(0).at("namespace").at(0).as_string(), name);
      EXPECT_EQ(client.get("/v1/namespaces?parent=" + raw).status, 200) << name;
    }
    EXPECT_EQ(client.del("/v1/namespaces/" + encoded(name) + "/tables/" + encoded(name)).status,
              204);
    EXPECT_EQ(client.del("/v1/namespaces/" + encoded(name)).status, 204);
  }
}

TEST_F(NamesOverHttp, AreCaseSensitiveAndADotSeparatesNothing) {
  auto client = connect();
  create_namespace(R"(["a"])");
  EXPECT_EQ(client.head("/v1/namespaces/A").status, 404);
  create_namespace(R"(["a","b"])");
  EXPECT_EQ(client.head("/v1/namespaces/a.b").status, 404);
  EXPECT_EQ(client.head("/v1/namespaces/a%1Fb").status, 204);
  EXPECT_EQ(client.head("/v1/namespaces/a%1fb").status, 204);
}

TEST_F(NamesOverHttp, ReachTheSameObjectsFormEncodedAndPercentEncoded) {
  auto client = connect();
  create_namespace(R"(["a b"])");
  ASSERT_EQ(register_named("a+b", "t +1").status, 200);
  EXPECT_EQ(client.head("/v1/namespaces/a+b/tables/t+%2B1").status, 204);
  EXPECT_EQ(client.head("/v1/namespaces/a%20b/tables/t%20%2B1").status, 204);
}

TEST_F(NamesOverHttp, MeanALiteralPlusWhenOnlyThatExists) {
  auto client = connect();
  create_namespace(R"(["c+d"])");
  EXPECT_EQ(client.head("/v1/namespaces/c+d").status, 204);
  EXPECT_EQ(client.post("/v1/namespaces/c+d/properties", R"({"updates":{"a":"b"}})").status, 200);
  ASSERT_EQ(register_named("c+d", "t+1").status, 200);
  EXPECT_EQ(client.head("/v1/namespaces/c+d/tables/t+1").status, 204);
  EXPECT_EQ(client.get("/v1/namespaces?parent=c+d").status, 200);
  EXPECT_EQ(client.get("/v1/namespaces/c+d/tables/t+1").status, 200);
  EXPECT_EQ(client.del("/v1/namespaces/c+d/tables/t+1").status, 204);
  EXPECT_EQ(client.del("/v1/namespaces/c+d").status, 204);
}

TEST_F(NamesOverHttp, MeanASpaceWhenBothExist) {
  auto client = connect();
  client.post("/v1/namespaces", R"({"namespace":["a b"],"properties":{"is":"space"}})");
  client.post("/v1/namespaces", R"({"namespace":["a+b"],"properties":{"is":"plus"}})");
  EXPECT_EQ(client.get("/v1/namespaces/a+b").json().at("properties").at("is").as_string(), "space");
  EXPECT_EQ(client.get("/v1/namespaces/a%2Bb").json().at("properties").at("is").as_string(),
            "plus");
}

TEST_F(NamesOverHttp, ThatNobodyCanHaveAre400) {
  auto client = connect();
  const std::vector<std::string> raws{"",         "%1F", "a%1F",  "%1Fa",
                                      "a%1F%1Fb", "%00", "a%00b", "%FF",
                                      "%C3",      "%zz", "%2",    std::string(600, 'a')};
  for (const std::string& raw : raws) {
    const auto refused = client.get("/v1/namespaces/" + raw);
    EXPECT_EQ(refused.status, 400) << raw;
    EXPECT_EQ(refused.error_type(), "IllegalArgumentException");
    EXPECT_EQ(client.head("/v1/namespaces/" + raw + "/tables/t").status, 400) << raw;
    if (raw.find("%1F") == std::string::npos) {
      EXPECT_EQ(client.head("/v1/namespaces/a/tables/" + raw).status, 400) << raw;
    }
  }
  EXPECT_EQ(client.head("/v1/namespaces/a/tables/t%1Fu").status, 400);
  EXPECT_EQ(client.get("/v1/namespaces?parent=a%1F").status, 400);
}

TEST_F(NamesOverHttp, OfWhatIsToBeMadeAreReadAsTheirNamespaceIs) {
  auto client = connect();
  create_namespace(R"(["c+d"])");
  ASSERT_EQ(client.post("/v1/namespaces/c+d/tables", table_creation("t+1")).status, 200);
  EXPECT_EQ(client.post("/v1/namespaces/c+d/tables/t+1", commit(set_property("k", "v"))).status,
            200);
  const auto missing = client.post("/v1/namespaces/c+d/tables/t+2", commit(""));
  EXPECT_EQ(missing.error_message(), "Table does not exist: c+d.t+2");
  // The body says which one is meant.
  create_namespace(R"(["c d"])");
  ASSERT_EQ(client.post("/v1/namespaces/c+d/tables", table_creation("t 1")).status, 200);
  const auto changed = client.post("/v1/namespaces/c+d/tables/t+1",
                                   R"({"identifier":{"namespace":["c+d"],"name":"t+1"},)" +
                                       commit(set_property("k", "w")).substr(1));
  ASSERT_EQ(changed.status, 200) << changed.body;
  EXPECT_EQ(client.get("/v1/namespaces/c%2Bd/tables/t%2B1").json().at("metadata-location"),
            changed.json().at("metadata-location"));
}

class SeparatedNames : public DaemonTest {
  void SetUp() override {
    auto settings = settings_in(scratch());
    settings.namespace_separator = "%2E";
    start(settings);
  }
};

TEST_F(SeparatedNames, AreSplitAtBothSeparators) {
  auto client = connect();
  EXPECT_EQ(client.get("/v1/config").json().at("overrides").at("namespace-separator").as_string(),
            "%2E");
  create_namespace(R"(["a"])");
  create_namespace(R"(["a","b"])");
  create_namespace(R"(["a","b","c"])");
  for (const char* raw : {"a%2Eb", "a%2eb", "a%1Fb"}) {
    EXPECT_EQ(client.head(std::string("/v1/namespaces/") + raw).status, 204) << raw;
    const auto children = client.get(std::string("/v1/namespaces?parent=") + raw).json();
    EXPECT_EQ(children.at("namespaces").as_array().size(), 1U) << raw;
  }
  EXPECT_EQ(client.get("/v1/namespaces?parent=a.b").json().at("namespaces").as_array().size(), 1U);
  EXPECT_EQ(client.head("/v1/namespaces/a.b").status, 404);
  ASSERT_EQ(client.post("/v1/namespaces/a%2Eb/tables", table_creation("t.u")).status, 200);
  EXPECT_EQ(client.head("/v1/namespaces/a%1Fb/tables/t%2Eu").status, 204);
}

}  // namespace
}  // namespace iceblink::test
