// Schemas that commits add, make current and remove.
#include "tests/iceberg/commit/commit_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::int32_t> schema_ids(const Outcome& outcome) {
  return ids_of(outcome->schemas, &Schema::schema_id);
}

TEST(TableBuilderSchemas, ASchemaGetsTheNextId) {
  Schema second = schema_of({column(1, "x"), column(7, "y")});
  second.schema_id = 40;
  const auto outcome = commit(v2(), {AddSchema{second}});
  EXPECT_THAT(schema_ids(outcome), ElementsAre(0, 1));
  EXPECT_EQ(outcome->current_schema_id, 0);
  EXPECT_EQ(outcome->last_column_id, 7);
  EXPECT_EQ(outcome->schemas[1].fields[1].name, "y");
}

TEST(TableBuilderSchemas, TheLastColumnIdIsTheHighestAtAnyDepthAndNeverFalls) {
  const auto nested =
      schema_of({column(1, "x"), column(2, "l", list_of(30, type(TypeKind::kInt)))});
  EXPECT_EQ(commit(v2(), {AddSchema{nested}})->last_column_id, 30);
  EXPECT_EQ(commit(v2().with("last-column-id", "50"), {AddSchema{nested}})->last_column_id, 50);
}

TEST(TableBuilderSchemas, AnEqualSchemaReusesItsId) {
  const Document base = v2().with("schemas", '[' + schema(field(1, "x").text()).text() + ',' +
                                                 schema(field(2, "y").text(), 5).text() + ']')
                            .with("current-schema-id", "5")
                            .with("last-column-id", "2");
  EXPECT_TRUE(commit(base, {AddSchema{schema_of({column(1, "x")})}}).made.is_unchanged());
  const auto reverted =
      commit(base, {AddSchema{schema_of({column(1, "x")})}, SetCurrentSchema{kLastAdded}});
  EXPECT_EQ(reverted->current_schema_id, 0);
  EXPECT_THAT(schema_ids(reverted), ElementsAre(0, 5));
  const auto another = commit(base, {AddSchema{schema_of({column(3, "z")})}});
  EXPECT_THAT(schema_ids(another), ElementsAre(0, 5, 6));
}

TEST(TableBuilderSchemas, EqualIsWhatSaysTheSameInAllThatItSays) {
  Field with_doc = column(1, "x");
  with_doc.doc = "d";
  Field with_default = column(1, "x");
  with_default.write_default = "7";
  for (const Field& other : {with_doc, with_default, required(1, "x"), column(1, "X"),
                             column(2, "x"), column(1, "x", TypeKind::kInt)}) {
    EXPECT_THAT(schema_ids(commit(v2(), {AddSchema{schema_of({other})}})), ElementsAre(0, 1));
  }
  const auto a = schema_of({required(1, "a"), required(2, "b")}, {1, 2});
  const auto b = schema_of({required(1, "a"), required(2, "b")}, {2, 1});
  const auto c = schema_of({required(1, "a"), required(2, "b")}, {2});
  EXPECT_THAT(schema_ids(commit(v2(), {AddSchema{a}, AddSchema{b}})), ElementsAre(0, 1));
  EXPECT_THAT(schema_ids(commit(v2(), {AddSchema{a}, AddSchema{c}})), ElementsAre(0, 1, 2));
}

TEST(TableBuilderSchemas, SpaceInADefaultMakesNoOtherSchema) {
  Field one = column(1, "x", list_of(2, type(TypeKind::kInt)));
  one.write_default = "[1,2]";
  Field other = one;
  other.write_default = "[ 1 , 2 ]";
  EXPECT_THAT(
      schema_ids(commit(v2(), {AddSchema{schema_of({one})}, AddSchema{schema_of({other})}})),
      ElementsAre(0, 1));
}

TEST(TableBuilderSchemas, TheLastAddedIsThatOfThisCommit) {
  const auto outcome =
      commit(v2(), {AddSchema{schema_of({column(2, "a")})}, AddSchema{schema_of({column(3, "b")})},
                    SetCurrentSchema{kLastAdded}});
  EXPECT_EQ(outcome->current_schema_id, 2);
  EXPECT_EQ(commit(v2(), {SetCurrentSchema{kLastAdded}}).error,
            invalid("Cannot set last added schema: no schema has been added"));
  EXPECT_EQ(commit(v2(), {SetCurrentSchema{1}, AddSchema{schema_of({column(2, "a")})}}).error,
            invalid("Cannot set current schema to unknown schema: 1"));
}

// ---- What a schema must be

TEST(TableBuilderSchemas, TypesOfFormatThreeNeedIt) {
  const auto with = [](TypeKind kind) {
    return AddSchema{schema_of({column(1, "x"), column(2, "v", kind)})};
  };
  EXPECT_EQ(
      commit(v2(), {with(TypeKind::kVariant)}).error,
      invalid("Invalid schema for v2: Invalid type for v: variant is not supported until v3"));
  EXPECT_THAT(commit(v1(), {with(TypeKind::kTimestampNs)}).error,
              HasSubstr("Invalid type for v: timestamp_ns is not supported until v3"));
  for (const TypeKind kind : {TypeKind::kVariant, TypeKind::kUnknown, TypeKind::kTimestampTzNs}) {
    EXPECT_EQ(commit(v3(), {with(kind)}).error, "");
    EXPECT_EQ(commit(v2(), {UpgradeFormatVersion{3}, with(kind)}).error, "");
    EXPECT_THAT(commit(v2(), {with(kind), UpgradeFormatVersion{3}}).error,
                HasSubstr("is not supported until v3"))
        << "updates are applied in order";
  }
  const auto nested = schema_of({column(1, "l", list_of(2, type(TypeKind::kVariant)))});
  EXPECT_THAT(commit(v2(), {AddSchema{nested}}).error,
              HasSubstr("Invalid type for l.element: variant"));
}

TEST(TableBuilderSchemas, InitialDefaultsNeedFormatThree) {
  Field with = column(2, "y");
  with.initial_default = "34";
  EXPECT_EQ(
      commit(v2(), {AddSchema{schema_of({with})}}).error,
      invalid("Invalid schema for v2: Invalid initial default for y: non-null default (34) is "
              "not supported until v3"));
  EXPECT_EQ(commit(v3(), {AddSchema{schema_of({with})}})->schemas[1].fields[0].initial_default,
            "34");
}

TEST(TableBuilderSchemas, AllThatAFormatDoesNotHaveIsNamedUpToAFew) {
  std::vector<Field> fields;
  for (int i = 1; i <= 11; ++i) {
    fields.push_back(column(i, "v" + std::to_string(i), TypeKind::kVariant));
  }
  const std::string error = commit(v2(), {AddSchema{schema_of(fields)}}).error;
  EXPECT_THAT(error, HasSubstr("Invalid type for v1: variant is not supported until v3; Invalid"));
  EXPECT_THAT(error, HasSubstr("Invalid type for v10: variant is not supported until v3; …"));
}

TEST(TableBuilderSchemas, NamesAndIdsDiffer) {
  const std::string begin = "Invalid schema for v2: ";
  EXPECT_EQ(commit(v2(), {AddSchema{schema_of({column(1, "x"), column(2, "x")})}}).error,
            invalid(begin + "two fields have the name 'x'"));
  const auto inner = type(TypeKind::kStruct, {column(3, "y"), column(4, "y")});
  EXPECT_EQ(commit(v2(), {AddSchema{schema_of({column(2, "s", inner)})}}).error,
            invalid(begin + "two fields have the name 's.y'"));
  const auto repeated =
      schema_of({column(1, "x"), column(2, "l", list_of(1, type(TypeKind::kInt)))});
  EXPECT_EQ(commit(v2(), {AddSchema{repeated}}).error, invalid(begin + "two fields have the id 1"));
  EXPECT_EQ(commit(v2(), {AddSchema{schema_of({column(-1, "x")})}}).error,
            invalid(begin + "the field 'x' has the id -1, which no column may have"));
  EXPECT_EQ(commit(v2(), {AddSchema{schema_of({column(2147483448, "x")})}}).error,
            invalid(begin + "the field 'x' has the id 2147483448, which no column may have"));
  EXPECT_EQ(commit(v2(), {AddSchema{schema_of({column(1, "Body"), column(2, "body")})}}).error, "")
      << "case counts";
}

TEST(TableBuilderSchemas, IdentifierFieldsAreRequiredPrimitivesThatAreNoFloats) {
  const std::string begin = "Invalid schema for v2: the identifier field ";
  const auto error_of = [](const Schema& schema) {
    return commit(v2(), {AddSchema{schema}}).error;
  };
  EXPECT_EQ(error_of(schema_of({required(1, "a")}, {1})), "");
  EXPECT_EQ(error_of(schema_of({column(1, "a")}, {1})), invalid(begin + "1 is optional"));
  EXPECT_EQ(error_of(schema_of({required(1, "a", TypeKind::kDouble)}, {1})),
            invalid(begin + "1 is a floating-point number"));
  EXPECT_EQ(error_of(schema_of({required(1, "a")}, {2})),
            invalid(begin + "2 is not in the schema"));
}

TEST(TableBuilderSchemas, DefaultsAndTypesFitAsReadersWantThem) {
  Field wrong = column(2, "y");
  wrong.write_default = "\"text\"";
  EXPECT_EQ(commit(v3(), {AddSchema{schema_of({wrong})}}).error,
            invalid("Invalid schema for v3: the write-default of 'y' is not a value of long"));
  EXPECT_EQ(commit(v3(), {AddSchema{schema_of({required(2, "y", TypeKind::kUnknown)})}}).error,
            invalid("Invalid schema for v3: the field 'y' is of type unknown and cannot be "
                    "required"));
}

// ---- remove-schemas

const Document kThreeSchemas =
    v2().with("schemas", '[' + schema(field(1, "x").text(), 0).text() + ',' +
                             schema(field(2, "y").text(), 1).text() + ',' +
                             schema(field(3, "z").text(), 2).text() + ']');

TEST(TableBuilderSchemas, SchemasAreRemovedButForTheCurrentOne) {
  EXPECT_THAT(schema_ids(commit(kThreeSchemas, {RemoveSchemas{ids({2, 9, 1})}})), ElementsAre(0));
  EXPECT_EQ(commit(kThreeSchemas, {RemoveSchemas{ids({1, 0})}}).error,
            invalid("Cannot remove the current schema"));
  EXPECT_EQ(commit(kThreeSchemas, {SetCurrentSchema{1}, RemoveSchemas{ids({1})}}).error,
            invalid("Cannot remove the current schema"));
  EXPECT_THAT(schema_ids(commit(kThreeSchemas, {SetCurrentSchema{1}, RemoveSchemas{ids({0})}})),
              ElementsAre(1, 2));
}

TEST(TableBuilderSchemas, ASchemaThatWasRemovedIsAddedAgainUnderANewId) {
  const auto outcome =
      commit(kThreeSchemas, {RemoveSchemas{ids({2})}, AddSchema{schema_of({column(3, "z")})},
                             SetCurrentSchema{kLastAdded}});
  EXPECT_THAT(schema_ids(outcome), ElementsAre(0, 1, 3));
  EXPECT_EQ(outcome->current_schema_id, 3);
  const AddSchema added{schema_of({column(4, "w")})};
  EXPECT_THAT(schema_ids(commit(kThreeSchemas, {added, RemoveSchemas{ids({3})}, added})),
              ElementsAre(0, 1, 2, 4));
  EXPECT_EQ(commit(kThreeSchemas, {RemoveSchemas{ids({2})}, SetCurrentSchema{2}}).error,
            invalid("Cannot set current schema to unknown schema: 2"));
}

// ---- With specs and sort orders

TEST(TableBuilderSchemas, TheDefaultSpecAndSortOrderMustHaveTheirColumns) {
  const Document base = v2().with("partition-specs",
                                  R"([{"spec-id":0,"fields":[]},{"spec-id":1,"fields":[
                    {"name":"x","transform":"identity","source-id":1,"field-id":1000}]}])")
                            .with("default-spec-id", "1")
                            .with("last-partition-id", "1000");
  const AddSchema without{schema_of({column(2, "y")})};
  EXPECT_EQ(commit(base, {without, SetCurrentSchema{kLastAdded}}).error,
            invalid("Cannot find source column for partition field 'x': 1"));
  const auto moved = commit(base, {without, SetCurrentSchema{kLastAdded}, SetDefaultSpec{0}});
  ASSERT_NE(moved.table, nullptr) << moved.error;
  EXPECT_THAT(ids_of(moved->partition_specs, &PartitionSpec::spec_id), ElementsAre(0, 1))
      << "the old one stays for old data";

  const Document sorted =
      v2().with("sort-orders",
                R"([{"order-id":0,"fields":[]},{"order-id":1,"fields":[{"transform":"identity",
                    "source-id":1,"direction":"asc","null-order":"nulls-first"}]}])")
          .with("default-sort-order-id", "1");
  EXPECT_EQ(commit(sorted, {without, SetCurrentSchema{kLastAdded}}).error,
            invalid("Cannot find source column for sort field 0: 1"));
  EXPECT_EQ(commit(sorted, {without, SetCurrentSchema{kLastAdded}, SetDefaultSortOrder{0}}).error,
            "");
}

TEST(TableBuilderSchemas, ABaseWhoseDefaultsHaveLostTheirColumnsMayStillBeCommittedTo) {
  const Document base = v2().with("partition-specs",
                                  R"([{"spec-id":0,"fields":[
                    {"name":"g","transform":"identity","source-id":9,"field-id":1000}]}])");
  EXPECT_EQ(commit(base, {set_properties({{"a", "b"}})}).error, "");
}

}  // namespace
}  // namespace iceblink::iceberg::testing
