// Metadata files as bytes: how they are stored, what JSON is, numbers, escapes, limits.
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const Document kTable =
    with_snapshot(v2(), snapshot("7").with("summary", R"({"operation":"append","ä\n":"\u00e4"})"))
        .with("current-snapshot-id", "7")
        .with("properties", R"({"a":"b"})");

// ---- Storage

TEST(MetadataBytes, Case19GzipIsKnownByItsFirstBytesWhateverTheFileIsCalled) {
  // The parser is not told the name: v1.gz.metadata.json, v1.metadata.json.gz,
  // v1.gzip.metadata.json, v1.metadata.json are the same bytes to it, and plain text is plain.
  EXPECT_EQ(error_of(gzipped(kTable.text())), "accepted");
  EXPECT_EQ(problems_of(gzipped(kTable.text())), std::vector<std::string>{});
  EXPECT_EQ(error_of(kTable.text()), "accepted");
  const std::string text = kTable.text();
  EXPECT_EQ(error_of(gzipped(text.substr(0, 40)) + gzipped(text.substr(40))), "accepted");
}

TEST(MetadataBytes, ABomIsPassedOver) {
  const std::string bom = "\xef\xbb\xbf";
  EXPECT_EQ(error_of(bom + kTable.text()), "accepted");
  EXPECT_EQ(error_of(gzipped(bom + kTable.text())), "accepted");
  EXPECT_THAT(error_of(bom + bom + kTable.text()), HasSubstr("corrupt: "));
  EXPECT_THAT(error_of(bom), HasSubstr("corrupt: the file is empty"));
}

TEST(MetadataBytes, Case20AFileOfNoBytesIsNone) {
  EXPECT_EQ(error_of(""), "corrupt: the file is empty");
  EXPECT_EQ(error_of(gzipped("")), "corrupt: the file is empty");
  EXPECT_THAT(problems_of(""), ElementsAre("the file is empty"));
  EXPECT_THAT(error_of(" \n"), StartsWith("corrupt: "));
}

TEST(MetadataBytes, ZstdIsRefusedByName) {
  EXPECT_EQ(error_of("\x28\xb5\x2f\xfd and so on"),
            "unsupported: the file is compressed with zstd, only gzip is understood");
  EXPECT_THAT(problems_of("\x28\xb5\x2f\xfd"),
              ElementsAre("the file is compressed with zstd, only gzip is understood"));
}

TEST(MetadataBytes, DamagedGzipIsRefused) {
  const std::string whole = gzipped(kTable.text());
  for (std::size_t size = 1; size < whole.size(); ++size) {
    EXPECT_THAT(error_of(whole.substr(0, size)), StartsWith("corrupt: ")) << size;
  }
  EXPECT_THAT(error_of(whole + "x"), StartsWith("corrupt: "));
}

// ---- JSON

TEST(MetadataBytes, NothingThatIsCutShortIsAccepted) {
  for (const Document& document : {kTable, v1(), view()}) {
    const std::string whole = document.text();
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const std::string cut = whole.substr(0, size);
      ASSERT_THAT(error_of(cut), StartsWith("corrupt: ")) << cut;
      ASSERT_FALSE(problems_of(cut).empty()) << cut;
    }
  }
}

TEST(MetadataBytes, NothingStandsBehindTheDocument) {
  const std::string text = kTable.text();
  EXPECT_EQ(error_of(text + " \r\n\t"), "accepted");
  for (const char* more : {"x", "{}",
                           "\n"
                           R"({"format-version":2})",
                           ",", "}", "null", "\"\""}) {
    EXPECT_THAT(error_of(text + more), StartsWith("corrupt: not valid JSON at byte")) << more;
    EXPECT_EQ(problems_of(text + more).size(), 1U) << more;
  }
  EXPECT_THAT(error_of(text + std::string(1, '\0')), StartsWith("corrupt: "));
}

TEST(MetadataBytes, OtherDocumentsAreNone) {
  for (const char* text : {"[]", "null", "5", "\"x\"", "true"}) {
    const auto problems = problems_of(text);
    ASSERT_EQ(problems.size(), 1U) << text;
    EXPECT_THAT(problems[0], StartsWith("expected an object, found ")) << text;
    EXPECT_THAT(error_of(text), StartsWith("corrupt: expected an object")) << text;
  }
  EXPECT_EQ(error_of("{}"), "corrupt: format-version: is missing");
}

TEST(MetadataBytes, WhatIsNoJsonIsRefused) {
  for (const char* value : {"01",          "+1",       ".5",         "1.",
                            "1e",          "0x1",      "NaN",        "Infinity",
                            "tru",         "nul",      "'x'",        "[1,]",
                            "[,1]",        "{\"a\"}",  "{\"a\":1,}", "{a:1}",
                            "{1:2}",       "[1 2]",    "\"\\x\"",    "\"\\u12\"",
                            "\"\\u12g4\"", "\"a\nb\"", "\"\xff\"",   "\"\xed\xa0\x80\"",
                            "]",           "}",        "",           "/**/1",
                            "1//x"}) {
    EXPECT_THAT(error_of(v2().with("new", value)), HasSubstr("not valid JSON")) << value;
    EXPECT_THAT(problems_of(v2().with("new", value)), Not(ElementsAre())) << value;
  }
}

TEST(MetadataBytes, MembersThatOccurTwiceAreRefused) {
  const auto twice = [](const Document& document, const std::string& name,
                        const std::string& json) {
    return error_of(document.with_another(name, json));
  };
  EXPECT_EQ(twice(v2(), "location", R"("s3://b/u")"), "corrupt: location: occurs twice");
  EXPECT_EQ(twice(v2(), R"(loc\u0061tion)", R"("s3://b/u")"), "corrupt: location: occurs twice");
  EXPECT_EQ(twice(view(), "location", R"("s3://b/u")"), "corrupt: location: occurs twice");
  EXPECT_THAT(v2().with("properties", R"({"a":"1","b":"2","\u0061":"3"})"),
              IsRefused("properties.a", "occurs twice"));
  EXPECT_THAT(kTable.with("refs", R"({"main":{"snapshot-id":7,"type":"branch"},)"
                                  R"("m\u0061in":{"snapshot-id":7,"type":"branch"}})"),
              IsRefused("refs.main", "occurs twice"));
  EXPECT_THAT(with_schema(v2(), field(1, "x").with_another("id", "2").text()),
              IsRefused("schemas[0].fields[0].id", "occurs twice"));
  EXPECT_THAT(with_snapshot(v2(), snapshot("7").with_another("timestamp-ms", "1")),
              HasDeepFault("snapshots[0].timestamp-ms", "occurs twice"));
  EXPECT_THAT(with_snapshot(v2(), snapshot("7").with("summary", R"({"a":"1","a":"1"})")),
              HasDeepFault("snapshots[0].summary.a", "occurs twice"));
  std::string many = R"({"k7":"")";
  for (int i = 0; i < 500; ++i) many += ",\"k" + std::to_string(i) + "\":\"\"";
  EXPECT_THAT(v2().with("properties", many + "}"), IsRefused("properties.k7", "occurs twice"));
}

TEST(MetadataBytes, EscapesAreResolvedInNamesAndValues) {
  const auto table =
      load(v2().without("location")
               .with(R"(l\u006fcation)", R"("s3:\/\/b\/\u00e4\ud83d\ude00\"\\\n")")
               .with("snapshots",
                     R"([{"snapshot\u002did":7,"timestamp\u002dms":1,"manifest-list":"m\t"}])"));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ((*table)->location, "s3://b/ä😀\"\\\n");
  const auto found = (*table)->snapshot(7);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ((*found)->manifest_list, "m\t");
  EXPECT_EQ((*load(v2().with("location", R"("a\ud800b")")))->location,
            "a\xef\xbf\xbd"
            "b")
      << "half a surrogate pair is no character";
}

TEST(MetadataBytes, LocationsAreKeptByteForByte) {
  for (const char* location : {"s3://b/t/", "s3://b//t", "file:/p%20q", "a b+c#d", "../t"}) {
    const auto table = load(v2().with("location", '"' + std::string(location) + '"'));
    ASSERT_TRUE(table);
    EXPECT_EQ((*table)->location, location);
  }
}

// ---- Numbers

TEST(MetadataBytes, Case11IdsUpToTheLargestAreExact) {
  for (const char* id : {"9223372036854775807", "-9223372036854775808", "9007199254740993", "0"}) {
    const auto table = load(with_snapshot(v2(), snapshot(id)).with("current-snapshot-id", id));
    ASSERT_TRUE(table) << table.error().message();
    EXPECT_EQ(std::to_string(*(*table)->current_snapshot_id), id);
    EXPECT_EQ(std::to_string((*(*table)->current_snapshot())->snapshot_id), id);
  }
  for (const char* id : {"9223372036854775808", "9876543210123456789", "-9223372036854775809",
                         "100000000000000000000000"}) {
    EXPECT_THAT(
        with_snapshot(v2(), snapshot(id)),
        IsRefused("snapshots[0].snapshot-id", std::string(id) + " does not fit into 64 bits"));
    EXPECT_THAT(v2().with("current-snapshot-id", id),
                IsRefused("current-snapshot-id", std::string(id) + " does not fit into 64 bits"));
  }
}

TEST(MetadataBytes, Case12IdsThatAreFloatsOrStringsAreRefused) {
  for (const char* id : {"4.5982866113522427e+18", "7.0", "7e0", "7E2"}) {
    EXPECT_THAT(
        with_snapshot(v2(), snapshot(id)),
        IsRefused("snapshots[0].snapshot-id", std::string(id) + " is not written as an integer"));
  }
  EXPECT_THAT(with_snapshot(v2(), snapshot("7").with("snapshot-id", R"("7")")),
              IsRefused("snapshots[0].snapshot-id", "expected an integer, found a string"));
  EXPECT_THAT(with_snapshot(v2(), snapshot("7").with("timestamp-ms", "1.0")),
              HasDeepFault("snapshots[0].timestamp-ms", "1.0 is not written as an integer"));
}

TEST(MetadataBytes, SmallIdsFitIntoThirtyTwoBits) {
  EXPECT_THAT(v2().with("last-column-id", "2147483647"), IsAccepted());
  EXPECT_THAT(v2().with("last-column-id", "2147483648"),
              IsRefused("last-column-id", "2147483648 does not fit into 32 bits"));
  EXPECT_THAT(with_schema(v2(), field(1, "x").with("id", "-2147483649").text()),
              IsRefused("schemas[0].fields[0].id", "-2147483649 does not fit into 32 bits"));
}

// ---- Limits

std::string nested_list(int levels) {
  std::string type = R"("int")";
  for (int i = 0; i < levels; ++i) {
    type = R"({"type":"list","element-id":)" + std::to_string(i + 2) +
           R"(,"element-required":true,"element":)" + type + "}";
  }
  return type;
}

TEST(MetadataLimits, ATypeNestsAsDeepAsTheLimitAndNoDeeper) {
  // The document, its schemas, a schema, its fields and a field stand around the type.
  const auto document = [](int levels) {
    return with_schema(v2(), field(1, "x", nested_list(levels)).text());
  };
  const auto deepest = static_cast<int>(MetadataLimits().depth_max) - 5;
  EXPECT_EQ(error_of(document(deepest)), "accepted");
  EXPECT_THAT(error_of(document(deepest + 1)), StartsWith("too_large: schemas[0].fields[0].type."));
  EXPECT_THAT(error_of(document(deepest + 1)), HasSubstr("nested deeper than 256 levels"));
  EXPECT_THAT(error_of(document(5).text(), {.depth_max = 8}), HasSubstr("nested deeper than 8"));
}

TEST(MetadataLimits, WhatIsPassedOverNestsNoDeeperEither) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(error_of(v2().with("new", deep)), HasSubstr("nested deeper than 256 levels"));
  EXPECT_THAT(problems_of(with_snapshot(v2(), snapshot("7").with("new", deep))),
              Each(HasSubstr("nested deeper than 256 levels")));
  EXPECT_THAT(error_of(std::string(1'000'000, '[')), StartsWith("corrupt: "));
}

TEST(MetadataLimits, ElementsAreCounted) {
  const MetadataLimits few{.elements_max = 20};
  const auto properties = [](int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) {
      text += (i == 0 ? "\"k" : ",\"k") + std::to_string(i) + "\":\"\"";
    }
    return v2().with("properties", text + "}").text();
  };
  EXPECT_EQ(error_of(properties(20), few), "accepted");
  EXPECT_THAT(error_of(properties(21), few), StartsWith("too_large: properties"));
  EXPECT_THAT(error_of(properties(21), few), HasSubstr(": more than 20 elements"));
  std::string log;
  for (int i = 0; i < 21; ++i) log += R"(,{"timestamp-ms":1,"snapshot-id":1})";
  const auto table = load(v2().with("snapshot-log", '[' + log.substr(1) + ']'), few);
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ((*table)->snapshot_log().error().kind(), ErrorKind::kTooLarge);
}

TEST(MetadataLimits, SizesAreLimitedAsStoredAndInflated) {
  const std::string text =
      v2().with("properties", "{\"a\":\"" + std::string(5000, 'x') + "\"}").text();
  EXPECT_EQ(error_of(text, {.document_bytes_max = text.size()}), "accepted");
  EXPECT_EQ(error_of(text, {.document_bytes_max = text.size() - 1}),
            "too_large: the file has " + std::to_string(text.size()) + " bytes, more than " +
                std::to_string(text.size() - 1));
  const std::string stored = gzipped(text);
  EXPECT_EQ(
      error_of(stored, {.document_bytes_max = stored.size(), .inflated_bytes_max = text.size()}),
      "accepted");
  EXPECT_THAT(error_of(stored, {.inflated_bytes_max = text.size() - 1}), StartsWith("too_large: "));
}

TEST(MetadataLimits, MessagesAreShortWhateverTheDocumentHolds) {
  const std::string long_name(100'000, 'n');
  for (const Document& document :
       {v2().with("properties", "{\"" + long_name + "\":[]}"),
        with_schema(v2(), field(1, "x", '"' + long_name + '"').text()),
        v2().with("last-column-id", '1' + std::string(100'000, '0')),
        with_schema(v2(), field(1, long_name).text() + ',' + field(2, long_name).text())}) {
    const std::string error = error_of(document);
    EXPECT_THAT(error, StartsWith("corrupt: "));
    EXPECT_LT(error.size(), 600U);
  }
  EXPECT_THAT(error_of(v2().with("properties", R"({"a\nb":[]})")),
              HasSubstr("properties.a\\x0ab: expected"));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
