#include "iceberg/metadata_header.h"

#include <gmock/gmock.h>
#include <libdeflate.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/json_scan.h"

namespace iceblink::iceberg {
namespace {

using ::testing::HasSubstr;

constexpr const char* kUuid = "9c12d441-03fe-4693-9a96-a0705ddf69c1";

Result<MetadataHeader> parse(std::string_view text) {
  return parse_metadata_header(std::as_bytes(std::span(text)));
}

std::string error_of(std::string_view text) {
  const auto header = parse(text);
  return header ? "accepted"
                : std::string(to_string(header.error().kind())) + ": " + header.error().message();
}

/// A minimal document of some format, with more members behind.
std::string table(const std::string& version, const std::string& more = "") {
  return R"({"format-version":)" + version + R"(,"location":"/w/t","schemas":[],"table-uuid":")" +
         kUuid + "\"" + more + "}";
}

std::string gzipped(const std::string& text) {
  auto* const compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(
      libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

TEST(MetadataHeader, ReadsATableInEveryFormat) {
  for (const int version : {1, 2, 3}) {
    const auto header = parse(table(std::to_string(version)));
    ASSERT_TRUE(header) << header.error().message();
    EXPECT_EQ(header->format_version, version);
    EXPECT_EQ(header->table_uuid, parse_uuid(kUuid));
    EXPECT_FALSE(header->is_view);
  }
}

TEST(MetadataHeader, ReadsAView) {
  const auto header = parse(std::string(R"({"view-uuid":")") + kUuid +
                            R"(","format-version":1,"location":"/v","versions":[],"schemas":[]})");
  ASSERT_TRUE(header) << header.error().message();
  EXPECT_TRUE(header->is_view);
  EXPECT_EQ(header->table_uuid, parse_uuid(kUuid));
}

TEST(MetadataHeader, FormatOneNeedsNoUuidAndOnlyTheOldSchema) {
  for (const char* uuid : {"", R"(,"table-uuid":null)"}) {
    const auto header =
        parse(std::string(R"({"format-version":1,"location":"/t","schema":{})") + uuid + "}");
    ASSERT_TRUE(header) << header.error().message();
    EXPECT_FALSE(header->table_uuid);
  }
}

TEST(MetadataHeader, LooksAtTheTopLevelOnly) {
  const std::string nested = R"(,"x":{"format-version":9,"table-uuid":1,)"
                             R"("a":[{"location":[1,-0.5e+3,true,null,"\u00e4\n"]}]})";
  const auto header = parse(table("2", nested));
  ASSERT_TRUE(header) << header.error().message();
  EXPECT_EQ(header->format_version, 2);
}

TEST(MetadataHeader, SaysWhatIsWrongWithTheFormatVersion) {
  EXPECT_EQ(error_of(table("4")),
            "invalid_argument: format-version 4 is not supported, the highest known is 3");
  EXPECT_THAT(error_of(table("99999999999999999999999")), HasSubstr("the highest known is 3"));
  EXPECT_THAT(error_of(table("0")), HasSubstr("is below 1"));
  EXPECT_THAT(error_of(table("-1")), HasSubstr("is below 1"));
  for (const char* version : {"2.0", "\"2\"", "null", "2e0", "[2]"}) {
    EXPECT_THAT(error_of(table(version)), HasSubstr("not an integer")) << version;
  }
  EXPECT_THAT(error_of(R"({"location":"/t","schemas":[]})"),
              HasSubstr("format-version is missing"));
  EXPECT_THAT(error_of(std::string(R"({"format-version":2,"location":"/v","versions":[],)") +
                       R"("view-uuid":")" + kUuid + "\"}"),
              HasSubstr("format-version 2 is not supported, the highest known is 1"));
}

TEST(MetadataHeader, NewerFormatsNeedAUuidThatIsOne) {
  const std::string begin = R"({"format-version":2,"location":"/t","schemas":[])";
  EXPECT_THAT(error_of(begin + "}"), HasSubstr("table-uuid is missing"));
  EXPECT_THAT(error_of(begin + R"(,"table-uuid":null})"), HasSubstr("table-uuid is missing"));
  EXPECT_THAT(error_of(begin + R"(,"table-uuid":7})"), HasSubstr("table-uuid is not a string"));
  EXPECT_THAT(error_of(begin + R"(,"table-uuid":"xyz"})"),
              HasSubstr("table-uuid is not a UUID: 'xyz'"));
  EXPECT_THAT(error_of(begin + R"(,"table-uuid":"00000000-0000-0000-0000-000000000000"})"),
              HasSubstr("all zero"));
}

TEST(MetadataHeader, RefusesWhatIsNeitherTableNorView) {
  EXPECT_THAT(error_of(R"({"format-version":2})"), HasSubstr("neither table nor view"));
  EXPECT_THAT(error_of(R"({"format-version":2,"schemas":[]})"), HasSubstr("location is missing"));
  EXPECT_THAT(error_of(R"({"format-version":2,"schemas":[],"location":null})"),
              HasSubstr("location is missing"));
}

TEST(MetadataHeader, RefusesAMemberThatOccursTwiceInAnySpelling) {
  EXPECT_THAT(error_of(table("2", R"(,"location":"/other")")),
              HasSubstr("'location' occurs twice"));
  EXPECT_THAT(error_of(table("2", R"(,"format\u002dversion":1)")),
              HasSubstr("'format-version' occurs twice"));
}

TEST(MetadataHeader, RefusesATextThatIsCutAtAnyByte) {
  const std::string text = table("2", R"(,"p":{"a":[1,{"b":"c\\"}]},"last":"x")");
  ASSERT_EQ(error_of(text), "accepted");
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THAT(error_of(text.substr(0, size)), HasSubstr("invalid_argument")) << size;
  }
}

TEST(MetadataHeader, RefusesWhatIsNotJson) {
  const char* const bad[] = {"[]",
                             "null",
                             "{} {}",
                             "{}x",
                             R"({"a":01})",
                             R"({"a":1.})",
                             R"({"a":+1})",
                             R"({"a":[1 2]})",
                             R"({"a":[1}})",
                             R"({"a":{]})",
                             R"({"a" 1})",
                             R"({"a":1,})",
                             R"({"a":[1,]})",
                             R"({"a":tru})",
                             R"({'a':1})",
                             R"({"a":"\x"})",
                             R"({"a":"\u12"})",
                             "{\"a\":\"\n\"}",
                             "{\"a\":\"\xff\"}",
                             "{\"a\":\"\xed\xa0\x80\"}",
                             R"({"a":NaN})",
                             "{\"a\":1}\0",
                             R"({a:1})",
                             R"({"a":-})",
                             R"({"a":1e})"};
  for (const char* text : bad) EXPECT_THAT(error_of(text), HasSubstr("invalid_argument")) << text;
  EXPECT_THAT(error_of(R"({"a":[1 2]})"), HasSubstr("byte 8: expected ',' or ']'"));
  EXPECT_THAT(error_of(std::string("{}\0", 3)), HasSubstr("something follows the object"));
  EXPECT_THAT(error_of(""), HasSubstr("the file is empty"));
  EXPECT_THAT(error_of("\xef\xbb\xbf"), HasSubstr("the file is empty"));
}

TEST(MetadataHeader, TakesNestingUpToALimit) {
  const auto nested = [](std::size_t depth) {
    return table("2", ",\"x\":" + std::string(depth, '[') + std::string(depth, ']'));
  };
  EXPECT_EQ(error_of(nested(kJsonDepthMax)), "accepted");
  EXPECT_THAT(error_of(nested(kJsonDepthMax + 2)), HasSubstr("nested too deep"));
  EXPECT_THAT(error_of(nested(1'000'000)), HasSubstr("nested too deep"));
}

TEST(MetadataHeader, StripsABomAndInflatesGzip) {
  const std::string bom = "\xef\xbb\xbf";
  EXPECT_EQ(error_of(bom + table("2")), "accepted");
  EXPECT_EQ(error_of(gzipped(table("2"))), "accepted");
  EXPECT_EQ(error_of(gzipped(bom + table("2"))), "accepted");
  EXPECT_THAT(error_of(gzipped("")), HasSubstr("the file is empty"));
  EXPECT_THAT(error_of(gzipped(table("2")).substr(0, 40)), HasSubstr("gzip: the data is damaged"));
  EXPECT_THAT(error_of("\x28\xb5\x2f\xfd...."), HasSubstr("unsupported: the file is compressed"));
  const std::string large = gzipped(table("2", ",\"x\":\"" + std::string(5000, 'x') + "\""));
  EXPECT_EQ(parse_metadata_header(std::as_bytes(std::span(large)), 1000).error().kind(),
            ErrorKind::kTooLarge);
}

TEST(MetadataHeader, AcceptsWhitespaceEverywhere) {
  EXPECT_EQ(error_of(" \n{ \"format-version\" : 2 ,\t\"location\" : \"/t\" , \"schemas\" : [ ] ,"
                     "\r\n\"table-uuid\" : \"9c12d441-03fe-4693-9a96-a0705ddf69c1\" } \n"),
            "accepted");
}

TEST(JsonScan, ResolvesEscapes) {
  EXPECT_EQ(unescape_json_string(R"("a\"\\\/\b\f\n\r\tb")"), "a\"\\/\b\f\n\r\tb");
  EXPECT_EQ(unescape_json_string(R"("\u0041\u00e4\u20ac\ud83d\ude00")"),
            "A\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
  EXPECT_EQ(unescape_json_string(R"("\ud83dx\ude00\ud83d\u0041")"),
            "\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd"
            "A");
}

// ---- Files of other implementations ----

struct Expectation {
  std::string file;
  std::string kind;
  std::string expect;
  std::string format;
};

std::string corpus_dir() {
  return std::string(ICEBLINK_SOURCE_DIR) + "/../shared/data";
}

std::vector<Expectation> read_expectations() {
  std::vector<Expectation> expectations;
  std::ifstream file(corpus_dir() + "/expectations.tsv");
  std::string line;
  std::getline(file, line);  // the heading
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    Expectation entry;
    std::getline(fields, entry.file, '\t');
    std::getline(fields, entry.kind, '\t');
    std::getline(fields, entry.expect, '\t');
    std::getline(fields, entry.format, '\t');
    if (entry.kind == "table" || entry.kind == "view") expectations.push_back(entry);
  }
  return expectations;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

TEST(MetadataHeader, ReadsTheFilesOfOtherImplementations) {
  const auto expectations = read_expectations();
  if (expectations.empty()) GTEST_SKIP() << corpus_dir() << " is not here: nothing to compare with";
  int accepted = 0;
  for (const auto& entry : expectations) {
    // A document made up for another test, with a uuid that is none: we take only real ones.
    const bool made_up = entry.file.ends_with("00573_EncryptionKeysRoundTrip.json");
    if (entry.expect != "accept" || made_up) continue;
    const auto header = parse(read_file(corpus_dir() + "/" + entry.file));
    ASSERT_TRUE(header) << entry.file << ": " << header.error().message();
    EXPECT_EQ("v" + std::to_string(header->format_version), entry.format) << entry.file;
    EXPECT_EQ(header->is_view ? "view" : "table", entry.kind) << entry.file;
    ++accepted;
  }
  EXPECT_GT(accepted, 50);
}

TEST(MetadataHeader, RefusesFilesThatTheirHeaderRulesOut) {
  const auto expectations = read_expectations();
  if (expectations.empty()) GTEST_SKIP() << corpus_dir() << " is not here: nothing to compare with";
  const std::map<std::string, std::string> reasons = {
      {"bad_iceberg_metadata.json", "something follows the object"},
      {"v0.metadata.json", "format-version is missing"},
      {"02930_test_invalid_table_uuid.json", "neither table nor view"},
      {"00530_test_invalid_view_uuid.json", ""},
      {"ViewMetadataUnsupportedVersion.json", "format-version 2 is not supported"},
      {"ViewMetadataMissingLocation.json", "location is missing"}};
  std::size_t refused = 0;
  for (const auto& entry : expectations) {
    const auto name = std::filesystem::path(entry.file).filename().string();
    const auto reason = reasons.find(name);
    const bool newer = entry.format == "v42";
    if (entry.expect != "reject" || (reason == reasons.end() && !newer)) continue;
    EXPECT_THAT(error_of(read_file(corpus_dir() + "/" + entry.file)),
                HasSubstr(newer ? "format-version 42 is not supported" : reason->second))
        << entry.file;
    EXPECT_NE(error_of(read_file(corpus_dir() + "/" + entry.file)), "accepted") << entry.file;
    ++refused;
  }
  EXPECT_GE(refused, reasons.size());
}

}  // namespace
}  // namespace iceblink::iceberg
