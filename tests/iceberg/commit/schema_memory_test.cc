// That a commit takes memory for what its names are, not for what they would be with those of all
// that they are in: every allocation of this program is counted.
#include "iceberg/commit/schema_index.h"
#include "tests/iceberg/commit/commit_samples.h"
#include "tests/iceberg/counted_memory.h"

namespace iceblink::iceberg::testing {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::int32_t kChildren = 2000;
constexpr std::int32_t kDepth = 60;

/// A column with a name of 1 MiB and many fields.
Schema wide_schema(TypeKind kind) {
  std::vector<Field> children;
  for (std::int32_t id = 2; id <= kChildren + 1; ++id) {
    children.push_back(column(id, "c" + std::to_string(id), kind));
  }
  return schema_of({column(1, std::string(kMiB, 'n'), type(TypeKind::kStruct, children))});
}

/// A column with such a name, and fields within fields.
Schema deep_schema() {
  Type inner = type(TypeKind::kLong);
  for (std::int32_t id = kDepth; id > 1; --id) {
    inner = type(TypeKind::kStruct, {column(id, "c", inner)});
  }
  return schema_of({column(1, std::string(kMiB, 'n'), inner)});
}

/// The most memory that is taken at a time while `make` runs.
template <typename Make>
std::size_t peak_of(Make make) {
  const std::size_t before = live_bytes;
  peak_bytes = live_bytes;
  make();
  return peak_bytes - before;
}

TEST(SchemaMemory, IsThatOfTheNamesAsTheyAreWritten) {
  for (const auto& wide_or_deep :
       {std::pair{wide_schema(TypeKind::kLong), kChildren + 1}, {deep_schema(), kDepth}}) {
    const Schema& schema = wide_or_deep.first;
    const int last_id = wide_or_deep.second;
    Outcome outcome;
    const std::size_t peak = peak_of([&] {
      outcome =
          commit(v2(), {AddSchema{schema}, SetCurrentSchema{kLastAdded},
                        add_spec({part("p", "bucket[4]", last_id)}), SetDefaultSpec{kLastAdded}});
    });
    EXPECT_EQ(outcome.error.substr(0, 200), "");
    EXPECT_LT(peak, 100 * kMiB);
    EXPECT_LT(peak_of([&] { const SchemaIndex index(schema, 7); }), kMiB);
  }
}

TEST(SchemaMemory, IsThatOfAFewNamesWhereManyFieldsAreWrong) {
  const Schema schema = wide_schema(TypeKind::kVariant);
  std::string error;
  EXPECT_LT(peak_of([&] { error = commit(v2(), {AddSchema{schema}}).error; }), 100 * kMiB);
  EXPECT_THAT(error, ::testing::HasSubstr("variant is not supported until v3"));
}

TEST(SchemaIndex, FindsFieldsByTheirFullNames) {
  const Schema schema =
      schema_of({column(1, "a", type(TypeKind::kStruct, {column(2, "b"), column(3, "c.d")})),
                 column(4, "l", list_of(5, type(TypeKind::kStruct, {column(6, "x")}))),
                 column(7, "a.b"), column(8, "m", map_of(9, 10, type(TypeKind::kLong)))});
  const SchemaIndex index(schema, 7);
  const auto id_of = [&](std::string_view name) {
    const Field* const field = index.find(name);
    return field == nullptr ? 0 : field->id;
  };
  EXPECT_EQ(id_of("a"), 1);
  EXPECT_EQ(id_of("a.b"), 2) << "the first of two that are called so";
  EXPECT_EQ(id_of("a.c.d"), 3);
  EXPECT_EQ(id_of("l.element"), 5);
  EXPECT_EQ(id_of("l.element.x"), 6);
  EXPECT_EQ(id_of("m.key"), 9);
  EXPECT_EQ(id_of("m.value"), 10);
  for (const auto& none : {"", ".", "a.", ".a", "b", "a.c", "ab", "A", "l.x"}) {
    EXPECT_EQ(id_of(none), 0) << none;
  }
  EXPECT_TRUE(index.find(6)->is_repeated);
  EXPECT_FALSE(index.find(2)->is_repeated);
  EXPECT_EQ(index.find(11), nullptr);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
