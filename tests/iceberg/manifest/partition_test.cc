// Partition tuples: what Avro's types become under the types of a spec.
#include <limits>

#include "iceberg/manifest/partition_column.h"
#include "iceberg/manifest/partition_key.h"
#include "tests/iceberg/manifest/manifest_samples.h"

namespace iceblink::iceberg::testing {
namespace {

/// A table with one column, partitioned by it. Another spec 1 has no fields.
std::shared_ptr<const TableMetadata> partitioned_by(const std::string& transform,
                                                    const std::string& type, int source_id = 1) {
  const std::string spec = R"([{"spec-id":0,"fields":[{"name":"p","transform":")" + transform +
                           R"(","source-id":)" + std::to_string(source_id) +
                           R"(,"field-id":1000}]},{"spec-id":1,"fields":[]}])";
  return table_of(v3().with("schemas", '[' + schema(field(1, "x", type).text()).text() + ']')
                      .with("partition-specs", spec)
                      .with("last-partition-id", "1000"));
}

AvroRecord file_in(const AvroRecord& partition) {
  return entry(data_file().with(record_field("partition", 102, partition)));
}
AvroRecord file_in(const std::string& avro_type, const AvroBytes& value) {
  return file_in(AvroRecord{{"p", "1000", avro_type, value}});
}

/// "kind text" of the one value, or the error.
std::string partition_of(const AvroRecord& entry,
                         const std::shared_ptr<const TableMetadata>& table) {
  const auto manifest = read({entry}, listed(), {}, table);
  if (!manifest) return text_of_result(manifest);
  const auto partition = (*manifest)->entries()[0].file.partition;
  if (partition.size() != 1) return std::to_string(partition.size()) + " values";
  return to_text(partition[0]);
}

/// What a value becomes in a column of this type, partitioned by identity.
std::string as(const std::string& type, const std::string& avro_type, const AvroBytes& value) {
  return partition_of(file_in(avro_type, value), partitioned_by("identity", '"' + type + '"'));
}
/// The type of the literal.
TypeKind kind_of(const std::string& type, const std::string& avro_type, const AvroBytes& value) {
  const auto manifest =
      read({file_in(avro_type, value)}, listed(), {}, partitioned_by("identity", '"' + type + '"'));
  return manifest ? (*manifest)->entries()[0].file.partition[0].kind : TypeKind::kUnknown;
}

AvroBytes number(std::int64_t value) {
  return AvroBytes().integer(value);
}

const std::string kDate = R"({"type":"int","logicalType":"date"})";
const std::string kTime = R"({"type":"long","logicalType":"time-micros"})";

std::string timestamp(const std::string& logical, bool is_utc = false) {
  return R"({"type":"long","logicalType":")" + logical + R"(","adjust-to-utc":)" +
         (is_utc ? "true" : "false") + '}';
}
std::string fixed(int size, const std::string& more = "") {
  return R"({"type":"fixed","name":"f","size":)" + std::to_string(size) + more + '}';
}
std::string decimal(int precision, int scale) {
  return R"(,"logicalType":"decimal","precision":)" + std::to_string(precision) + R"(,"scale":)" +
         std::to_string(scale);
}

TEST(Partition, EachTypeOfTheSpecification) {
  EXPECT_EQ(as("boolean", R"("boolean")", AvroBytes().boolean(1)), "true");
  EXPECT_EQ(as("int", R"("int")", number(-7)), "-7");
  EXPECT_EQ(as("long", R"("long")", number(INT64_MIN)), "-9223372036854775808");
  EXPECT_EQ(as("float", R"("float")", AvroBytes().float32(1.5F)), "1.5");
  EXPECT_EQ(as("double", R"("double")", AvroBytes().float64(-2.25)), "-2.25");
  EXPECT_EQ(as("date", kDate, number(17486)), "2017-11-16");
  EXPECT_EQ(as("time", kTime, number(81068000001)), "22:31:08.000001");
  EXPECT_EQ(as("timestamp", timestamp("timestamp-micros"), number(1510871468000001)),
            "2017-11-16T22:31:08.000001");
  EXPECT_EQ(as("timestamptz", timestamp("timestamp-micros", true), number(1510871468000001)),
            "2017-11-16T22:31:08.000001+00:00");
  EXPECT_EQ(as("timestamp_ns", timestamp("timestamp-nanos"), number(1510871468000001001)),
            "2017-11-16T22:31:08.000001001");
  EXPECT_EQ(as("timestamptz_ns", timestamp("timestamp-nanos", true), number(1510871468000001001)),
            "2017-11-16T22:31:08.000001001+00:00");
  EXPECT_EQ(as("string", R"("string")", AvroBytes().text("a/b")), "a/b");
  const std::string uuid = "\xf7\x9c\x3e\x09\x67\x7c\x4b\xbd\xa4\x79\x3f\x34\x9c\xb7\x85\xe7";
  EXPECT_EQ(as("uuid", fixed(16, R"(,"logicalType":"uuid")"), AvroBytes().append(uuid)),
            "f79c3e09-677c-4bbd-a479-3f349cb785e7");
  EXPECT_EQ(as("fixed[3]", fixed(3), AvroBytes().append("abc")), "616263");
  EXPECT_EQ(as("binary", R"("bytes")", AvroBytes().text("\x01")), "01");
  EXPECT_EQ(as("decimal(4,2)", fixed(2, decimal(4, 2)), AvroBytes().raw({'\x05', '\x8c'})),
            "14.20");
  EXPECT_EQ(
      as("decimal(4,2)", R"({"type":"bytes")" + decimal(4, 2) + '}', AvroBytes().text("\xff")),
      "-0.01");
}

TEST(Partition, WhatEachTypesLiteralIs) {
  EXPECT_EQ(kind_of("boolean", R"("boolean")", AvroBytes().boolean(1)), TypeKind::kBoolean);
  EXPECT_EQ(kind_of("date", R"("int")", number(1)), TypeKind::kDate);
  EXPECT_EQ(kind_of("timestamptz", R"("long")", number(1)), TypeKind::kTimestampTz);
  EXPECT_EQ(kind_of("long", R"("int")", number(1)), TypeKind::kLong);
  EXPECT_EQ(kind_of("double", R"("float")", AvroBytes().float32(1)), TypeKind::kDouble);
  EXPECT_EQ(kind_of("binary", fixed(2), AvroBytes().append("ab")), TypeKind::kBinary);
}

TEST(Partition, NullsAreNullsOfTheirType) {
  for (const auto* const avro : {R"(["null","string"])", R"(["null"])"}) {
    const auto manifest = read({file_in(avro, AvroBytes().null_branch())}, listed(), {},
                               partitioned_by("identity", R"("string")"));
    ASSERT_TRUE(manifest) << manifest.error().message();
    EXPECT_TRUE((*manifest)->entries()[0].file.partition[0].is_null);
    EXPECT_EQ((*manifest)->entries()[0].file.partition[0].kind, TypeKind::kString);
  }
  EXPECT_EQ(as("string", R"("null")", AvroBytes()), "null");
  EXPECT_EQ(as("int", R"(["int","null"])", AvroBytes().branch(0).integer(3)), "3");
}

TEST(Partition, WhatWasWrittenBeforeAPromotionIsReadAsWhatItIsNow) {
  EXPECT_EQ(as("long", R"("int")", number(5)), "5");
  EXPECT_EQ(as("double", R"("float")", AvroBytes().float32(0.5F)), "0.5");
  EXPECT_EQ(as("decimal(20,2)", fixed(2, decimal(4, 2)), AvroBytes().raw({'\x05', '\x8c'})),
            "14.20");
  EXPECT_EQ(as("timestamp", kDate, number(-1)), "1969-12-31T00:00:00.000000");
  EXPECT_EQ(as("timestamp_ns", kDate, number(1)), "1970-01-02T00:00:00.000000000");
  EXPECT_EQ(as("timestamp", R"("int")", number(1)), "1970-01-02T00:00:00.000000");
}

TEST(Partition, WritersDifferInTheirTypes) {
  EXPECT_EQ(as("date", R"("int")", number(17486)), "2017-11-16");
  EXPECT_EQ(as("date", R"("long")", number(17486)), "2017-11-16");
  EXPECT_EQ(as("int", R"("long")", number(5)), "5");
  EXPECT_EQ(as("time", R"("long")", number(1)), "00:00:00.000001");
  EXPECT_EQ(as("timestamptz", R"("long")", number(0)), "1970-01-01T00:00:00.000000+00:00");
  EXPECT_EQ(as("timestamptz", timestamp("timestamp-micros"), number(0)),
            "1970-01-01T00:00:00.000000+00:00");
  EXPECT_EQ(as("timestamp", timestamp("local-timestamp-micros"), number(1000000)),
            "1970-01-01T00:00:01.000000");
  EXPECT_EQ(as("timestamp", timestamp("timestamp-millis"), number(1000)),
            "1970-01-01T00:00:01.000000");
  EXPECT_EQ(as("uuid", R"("string")", AvroBytes().text("F79C3E09-677c-4bbd-a479-3f349cb785e7")),
            "f79c3e09-677c-4bbd-a479-3f349cb785e7");
  EXPECT_EQ(as("uuid", fixed(16), AvroBytes().append(std::string(16, '\0'))),
            "00000000-0000-0000-0000-000000000000");
  EXPECT_EQ(as("decimal(4,2)", fixed(2), AvroBytes().raw({'\x05', '\x8c'})), "14.20");
}

TEST(Partition, DecimalsAreUpToSixteenBytes) {
  const auto decimal_of = [](std::string_view bytes) { return parse_decimal(bytes); };
  EXPECT_EQ(decimal_of(std::string_view("\0", 1)), (Int128{0, 0}));
  EXPECT_EQ(decimal_of("\xff"), (Int128{-1, ~std::uint64_t{0}}));
  EXPECT_EQ(decimal_of("\x7f"), (Int128{0, 127}));
  EXPECT_EQ(decimal_of("\x01\x02\x03\x04\x05\x06\x07\x08\x09"), (Int128{1, 0x0203040506070809}));
  EXPECT_EQ(decimal_of('\x80' + std::string(15, '\0')), (Int128{INT64_MIN, 0}));
  EXPECT_EQ(decimal_of('\x7f' + std::string(15, '\xff')), (Int128{INT64_MAX, ~std::uint64_t{0}}));
  EXPECT_EQ(decimal_of(""), std::nullopt);
  EXPECT_EQ(decimal_of(std::string(17, '\0')), std::nullopt);
}

TEST(Partition, TransformsHaveTypesOfTheirOwn) {
  const auto in = [](const std::string& transform, const std::string& type, const std::string& avro,
                     const AvroBytes& value) {
    return partition_of(file_in(avro, value), partitioned_by(transform, '"' + type + '"'));
  };
  EXPECT_EQ(in("bucket[16]", "string", R"("int")", number(3)), "3");
  EXPECT_EQ(in("bucket[16]", "string", R"("string")", AvroBytes().text("x")),
            "corrupt: partition: field-id 1000 (p) is a string, and has to be an int");
  EXPECT_EQ(in("year", "timestamp", R"("int")", number(47)), "47");
  EXPECT_EQ(in("month", "date", R"("int")", number(574)), "574");
  EXPECT_EQ(in("hour", "timestamptz", R"("int")", number(100)), "100");
  EXPECT_EQ(in("day", "timestamp", kDate, number(17486)), "2017-11-16");
  EXPECT_EQ(in("day", "timestamp", R"("int")", number(17486)), "2017-11-16");
  EXPECT_EQ(in("truncate[2]", "string", R"("string")", AvroBytes().text("ab")), "ab");
  EXPECT_EQ(in("void", "long", R"(["null","long"])", AvroBytes().some_branch().integer(1)), "null");
  EXPECT_EQ(in("zorder", "long", R"("bytes")", AvroBytes().text("z")), "7a");
}

TEST(Partition, OfAColumnThatIsGoneAvroAloneTellsTheType) {
  const auto gone = partitioned_by("identity", R"("long")", 99);
  EXPECT_EQ(partition_of(file_in(kDate, number(17486)), gone), "2017-11-16");
  EXPECT_EQ(partition_of(file_in(timestamp("timestamp-micros", true), number(0)), gone),
            "1970-01-01T00:00:00.000000+00:00");
  EXPECT_EQ(partition_of(file_in(timestamp("timestamp-nanos"), number(1)), gone),
            "1970-01-01T00:00:00.000000001");
  EXPECT_EQ(partition_of(file_in(kTime, number(0)), gone), "00:00:00.000000");
  EXPECT_EQ(partition_of(file_in(fixed(1, decimal(2, 1)), AvroBytes().append("\x0f")), gone),
            "1.5");
  EXPECT_EQ(partition_of(file_in(AvroRecord{}), gone), "null");
  EXPECT_EQ(partition_of(file_in(AvroRecord{record_field("p", 1000, {})}), gone),
            "corrupt: partition: field-id 1000 (p) is a record, and has to be a primitive");
}

TEST(Partition, OfAColumnThatIsInAnOlderSchemaHasItsType) {
  const auto table = table_of(
      v2().with("schemas", '[' + schema(field(2, "d", R"("date")").text()).text() + ',' +
                               schema(field(1, "x").text(), 1).text() + ']')
          .with("current-schema-id", "1")
          .with("partition-specs", R"([{"spec-id":0,"fields":[{"name":"d","transform":"identity",)"
                                   R"("source-id":2,"field-id":1000}]}])")
          .with("last-partition-id", "1000"));
  EXPECT_EQ(partition_of(file_in(R"("int")", number(17486)), table), "2017-11-16");
}

TEST(Partition, ATypeThatCannotBeReconciledIsRefused) {
  const auto refused = [](const std::string& type, const std::string& avro_type,
                          const AvroBytes& value, const std::string& what) {
    EXPECT_EQ(as(type, avro_type, value), "corrupt: partition: field-id 1000 (p) " + what);
  };
  refused("int", R"("string")", AvroBytes().text("1"), "is a string, and has to be an int");
  refused("float", R"("double")", AvroBytes().float64(1), "is a double, and has to be a float");
  refused("string", R"("bytes")", AvroBytes().text("1"), "is bytes, and has to be a string");
  refused("long", timestamp("timestamp-micros"), number(1),
          "is a long (timestamp-micros), and has to be a long");
  refused("timestamp", R"("boolean")", AvroBytes().boolean(1),
          "is a boolean, and has to be a timestamp");
  refused("timestamp", timestamp("timestamp-nanos"), number(1),
          "is a long (timestamp-nanos), and has to be a timestamp");
  refused("decimal(4,2)", fixed(2, decimal(4, 3)), AvroBytes().append("ab"),
          "is a fixed (decimal) of 2 bytes, and has to be a decimal of scale 2");
  refused("decimal(38,2)", fixed(17), AvroBytes().append(std::string(17, '\0')),
          "is a fixed of 17 bytes, and has to be a decimal of scale 2");
  refused("fixed[3]", fixed(4), AvroBytes().append("abcd"),
          "is a fixed of 4 bytes, and has to be a fixed of 3 bytes");
  refused("uuid", fixed(15), AvroBytes().append(std::string(15, '\0')),
          "is a fixed of 15 bytes, and has to be a uuid");
  refused("int", R"(["int","long"])", AvroBytes().branch(0).integer(1), "is of several types");
}

TEST(Partition, AValueThatIsNoneOfItsTypeIsRefused) {
  const auto refused = [](const std::string& type, const std::string& avro_type,
                          const AvroBytes& value, const std::string& what) {
    EXPECT_EQ(as(type, avro_type, value), "corrupt: entries[0].data_file.partition.p: " + what);
  };
  refused("int", R"("long")", number(1LL << 31), "2147483648 is out of range");
  refused("timestamp", timestamp("timestamp-millis"), number(INT64_MAX),
          "9223372036854775807 is out of range");
  refused("timestamp_ns", kDate, number(INT32_MAX), "2147483647 is out of range");
  refused("string", R"("string")", AvroBytes().text("\xff"), "is not UTF-8");
  refused("uuid", R"("string")", AvroBytes().text("x"), "is no UUID");
  refused("decimal(4,2)", R"("bytes")", AvroBytes().text(""), "a decimal of 0 bytes");
  refused("decimal(4,2)", R"("bytes")", AvroBytes().text(std::string(17, '\0')),
          "a decimal of 17 bytes");
}

TEST(Partition, AFieldOfTheSpecIsThere) {
  const auto table = partitioned_by("identity", R"("long")");
  const std::string missing = "corrupt: partition: field-id 1000 (p) is not in the file's schema";
  EXPECT_EQ(partition_of(file_in(AvroRecord{}), table), missing);
  EXPECT_EQ(partition_of(file_in(AvroRecord{long_field("p", 1001, 1)}), table), missing);
  EXPECT_EQ(partition_of(file_in(AvroRecord{{"p", "", R"("long")", number(1)}}), table), missing);
  const auto file = data_file();
  const auto null =
      entry(file.with(none(record_field("partition", 102, {long_field("p", 1000, 1)}))));
  EXPECT_EQ(partition_of(null, table), "corrupt: entries[0].data_file.partition: is missing");
  EXPECT_EQ(partition_of(entry(file.without("partition")), table),
            "corrupt: entries[0].data_file.partition: is missing");
  EXPECT_EQ(partition_of(file_in(AvroRecord{}), partitioned_by("void", R"("long")")), "null");
  EXPECT_EQ(partition_of(entry(file.without("partition")), partitioned_by("void", R"("long")")),
            "null");
}

TEST(Partition, OfAnUnknownTypeIsTheSameHoweverItWasWritten) {
  const auto gone = partitioned_by("identity", R"("long")", 77);
  const auto unknown = partitioned_by("zorder[3]", R"("long")");
  const auto are_one = [](const AvroRecord& a, const AvroRecord& b, const auto& table) {
    const auto left = read({a}, listed(), {}, table);
    const auto right = read({b}, listed(), {}, table);
    return left && right &&
           PartitionKey::of((*left)->entries()[0].file) ==
               PartitionKey::of((*right)->entries()[0].file);
  };
  const auto null_int = file_in(R"(["null","int"])", AvroBytes().null_branch());
  for (const auto& table : {gone, unknown}) {
    EXPECT_TRUE(are_one(file_in(R"("int")", number(5)), file_in(R"("long")", number(5)), table));
    EXPECT_FALSE(are_one(file_in(R"("int")", number(5)), file_in(R"("long")", number(6)), table));
    EXPECT_FALSE(are_one(file_in(R"("int")", number(0)), null_int, table));
    EXPECT_TRUE(
        are_one(null_int, file_in(R"(["null","string"])", AvroBytes().null_branch()), table));
    EXPECT_TRUE(are_one(null_int, file_in(R"("null")", AvroBytes()), table));
  }
  EXPECT_TRUE(are_one(null_int, file_in(AvroRecord{}), gone)) << "the field is not there";
}

TEST(Partition, IsOfTheSpecThatTheManifestListNames) {
  const auto table = partitioned_by("identity", R"("long")");
  ManifestFile of = listed();
  of.partition_spec_id = 1;
  const auto manifest = read({file_in(AvroRecord{})}, of, {}, table);
  ASSERT_TRUE(manifest) << manifest.error().message();
  EXPECT_EQ((*manifest)->spec_id(), 1);
  EXPECT_EQ((*manifest)->entries()[0].file.spec_id, 1);
  EXPECT_TRUE((*manifest)->entries()[0].file.partition.empty());
  of.partition_spec_id = 8;
  EXPECT_THAT(read({entry()}, of, {}, table),
              FailsWith("corrupt: partition_spec_id: the table has no partition spec 8"));
}

TEST(Partition, OfAnEmbeddedManifestIsOfTheSpecThatItsHeaderNamesOr0) {
  const auto table = partitioned_by("identity", R"("long")");
  ManifestFile embedded;
  embedded.manifest_path = "m.avro";
  const auto named = read({file_in(AvroRecord{})}, embedded, {{"partition-spec-id", "1"}}, table);
  ASSERT_TRUE(named) << named.error().message();
  EXPECT_EQ((*named)->spec_id(), 1);
  const auto unnamed = read({file_in(R"("long")", number(3))}, embedded, {}, table);
  ASSERT_TRUE(unnamed) << unnamed.error().message();
  EXPECT_EQ((*unnamed)->spec_id(), 0);
}

TEST(Partition, HasItsValuesInTheOrderOfTheSpec) {
  const auto table = table_of(
      v2().with(
              "schemas",
              '[' +
                  schema(field(1, "x").text() + ',' + field(2, "y", R"("string")").text()).text() +
                  ']')
          .with("partition-specs",
                R"([{"spec-id":0,"fields":[)"
                R"({"name":"y","transform":"identity","source-id":2,"field-id":1001},)"
                R"({"name":"x","transform":"identity","source-id":1,"field-id":1000}]}])")
          .with("last-partition-id", "1001"));
  const auto manifest = read({file_in(AvroRecord{long_field("x", 1000, 3), long_field("z", 7, 0),
                                                 text_field("y", 1001, "why")})},
                             listed(), {}, table);
  ASSERT_TRUE(manifest) << manifest.error().message();
  const auto partition = (*manifest)->entries()[0].file.partition;
  ASSERT_EQ(partition.size(), 2U);
  EXPECT_EQ(to_text(partition[0]), "why");
  EXPECT_EQ(to_text(partition[1]), "3");
}

}  // namespace
}  // namespace iceblink::iceberg::testing
