// No file is left out that has a row for which the predicate is true: random rows in random
// partitions, summaries and metrics computed from them, random predicates evaluated row by row, as
// each kind of engine would.
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <random>

#include "iceberg/pruning/transforms.h"
#include "tests/iceberg/pruning/scan_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using Row = std::vector<Literal>;  // a value for each column
using Random = std::mt19937_64;

/// What engines differ in.
struct Engine {
  bool nan_is_greatest = false;
  bool rounds_to_float = false;
};
constexpr Engine kEngines[] = {{false, false}, {false, true}, {true, false}, {true, true}};

/// Nothing: unknown, as SQL has it.
using Truth = std::optional<bool>;
using Evaluation = std::function<Truth(const Row&, const Engine&)>;

struct Question {
  Predicate predicate;
  Evaluation evaluate;
  std::string text;
};

std::uint64_t below(Random& random, std::uint64_t limit) {
  return random() % limit;
}
template <typename T>
const T& one_of(Random& random, const std::vector<T>& choices) {
  return choices[below(random, choices.size())];
}

// ---- Types and values

struct ColumnType {
  std::string name;
  Type type;
  std::vector<std::string> transforms;
};

const std::vector<ColumnType>& column_types() {
  static const std::vector<std::string> kTimes{"identity", "bucket[3]", "year",
                                               "month",    "day",       "hour"};
  static const std::vector<std::string> kNumbers{"identity",    "bucket[2]",    "truncate[1]",
                                                 "truncate[7]", "truncate[16]", "bucket[5]"};
  static const std::vector<std::string> kTexts{"identity", "bucket[3]", "truncate[1]",
                                               "truncate[2]", "truncate[3]"};
  static const std::vector<ColumnType> kTypes{
      {"boolean", type_of(TypeKind::kBoolean), {"identity"}},
      {"int", type_of(TypeKind::kInt), kNumbers},
      {"long", type_of(TypeKind::kLong), kNumbers},
      {"float", type_of(TypeKind::kFloat), {"identity"}},
      {"double", type_of(TypeKind::kDouble), {"identity", "void"}},
      {"decimal(9,2)", decimal(9, 2), kNumbers},
      {"decimal(38,3)", decimal(38, 3), kNumbers},
      {"date", type_of(TypeKind::kDate), {"identity", "bucket[3]", "year", "month", "day"}},
      {"time", type_of(TypeKind::kTime), {"identity", "bucket[4]"}},
      {"timestamp", type_of(TypeKind::kTimestamp), kTimes},
      {"timestamptz", type_of(TypeKind::kTimestampTz), kTimes},
      {"timestamp_ns", type_of(TypeKind::kTimestampNs), kTimes},
      {"string", type_of(TypeKind::kString), kTexts},
      {"uuid", type_of(TypeKind::kUuid), {"identity", "bucket[3]", "void"}},
      {"fixed[3]", fixed(3), {"identity", "bucket[3]"}},
      {"binary", type_of(TypeKind::kBinary), kTexts}};
  return kTypes;
}

/// Strings that live as long as the test.
std::string_view kept(const std::string& text) {
  static std::map<std::string, bool> all;
  return all.emplace(text, true).first->first;
}

std::int64_t random_integer(Random& random, std::int64_t least, std::int64_t greatest) {
  switch (below(random, 12)) {
    case 0:
      return least + static_cast<std::int64_t>(below(random, 3));
    case 1:
      return greatest - static_cast<std::int64_t>(below(random, 3));
    case 2:
      return least / 2 + static_cast<std::int64_t>(below(random, 1000));
    default:
      return static_cast<std::int64_t>(below(random, 41)) - 20;
  }
}

Literal random_moment(Random& random, TypeKind kind, std::int64_t second) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  if (below(random, 12) == 0) return integer(kind, random_integer(random, -kMax - 1, kMax));
  const std::int64_t hours = static_cast<std::int64_t>(below(random, 60'000)) - 30'000;
  const std::int64_t around = below(random, 3) == 0 ? hours : hours % 40;
  return integer(kind, around * 3600 * second + static_cast<std::int64_t>(below(random, 3)) - 1);
}

Literal random_number(Random& random, TypeKind kind) {
  static const std::vector<double> kNumbers{0.0, -0.0, 1,     2,          3,        -1,
                                            0.1, 1e30, -1e30, 16777217.0, INFINITY, -INFINITY};
  if (below(random, 6) == 0) return number(std::nan(""), kind);
  const double value = one_of(random, kNumbers);
  return number(kind == TypeKind::kFloat ? double{static_cast<float>(value)} : value, kind);
}

std::string_view random_text(Random& random, TypeKind kind) {
  static const std::vector<std::string> kLetters{"a",    "b",        "c",
                                                 "\x7f", "\xc3\xa4", "\xf0\x9f\xa6\xad"};
  static const std::vector<std::string> kBytes{std::string(1, '\0'), "a", "b", "\x80", "\xff"};
  const bool is_string = kind == TypeKind::kString;
  std::size_t count = below(random, is_string ? 5 : 4);
  if (kind == TypeKind::kFixed) count = 3;
  if (kind == TypeKind::kUuid) count = 16;
  std::string text;
  const std::string first = one_of(random, kBytes);
  for (std::size_t i = 0; i < count; ++i) {
    const bool repeats = kind == TypeKind::kUuid && i % 8 != 0;
    text += repeats ? first : one_of(random, is_string ? kLetters : kBytes);
  }
  return kept(text);
}

Literal random_value(Random& random, const Type& type) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kIntMax = std::numeric_limits<std::int32_t>::max();
  if (below(random, 6) == 0) return Literal::null(type.kind);
  switch (type.kind) {
    case TypeKind::kBoolean:
      return integer(type.kind, static_cast<std::int64_t>(below(random, 2)));
    case TypeKind::kInt:
      return integer(type.kind, random_integer(random, -kIntMax - 1, kIntMax));
    case TypeKind::kLong:
      return integer(type.kind, random_integer(random, -kMax - 1, kMax));
    case TypeKind::kDate:
      return integer(type.kind, below(random, 2) == 0
                                    ? random_integer(random, -kIntMax - 1, kIntMax)
                                    : static_cast<std::int64_t>(below(random, 2000)) - 1000);
    case TypeKind::kTime:
      return integer(type.kind, static_cast<std::int64_t>(below(random, 20)));
    case TypeKind::kDecimal:
      return unscaled(random_integer(random, -999'999'999, 999'999'999), type.scale);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return random_number(random, type.kind);
    case TypeKind::kTimestampNs:
      return random_moment(random, type.kind, 1'000'000'000);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
      return random_moment(random, type.kind, 1'000'000);
    default:
      return Literal::of_bytes(type.kind, random_text(random, type.kind));
  }
}

// ---- Predicates

/// Before, equal, behind: 0, 1, 2. Nothing: cannot be told.
std::optional<int> order_of(const Literal& value, const Literal& other, const Engine& engine) {
  const bool is_number = value.kind == TypeKind::kFloat || value.kind == TypeKind::kDouble;
  if (is_number) {
    const double with = engine.rounds_to_float && value.kind == TypeKind::kFloat
                            ? double{static_cast<float>(other.number)}
                            : other.number;
    const bool is_nan = std::isnan(value.number);
    const bool is_with_nan = std::isnan(with);
    if (is_nan || is_with_nan) {
      if (!engine.nan_is_greatest) return std::nullopt;
      return is_nan == is_with_nan ? 1 : (is_nan ? 2 : 0);
    }
    return value.number < with ? 0 : (value.number > with ? 2 : 1);
  }
  const auto order = compare(value, other);
  return order < 0 ? 0 : (order > 0 ? 2 : 1);
}

Truth holds(Comparison comparison, const Literal& value, const Literal& other,
            const Engine& engine) {
  if (value.is_null) return std::nullopt;
  const auto order = order_of(value, other, engine);
  if (!order) return comparison == Comparison::kNotEqual;
  switch (comparison) {
    case Comparison::kEqual:
      return order == 1;
    case Comparison::kNotEqual:
      return order != 1;
    case Comparison::kLess:
      return order == 0;
    case Comparison::kLessEqual:
      return *order <= 1;
    case Comparison::kGreater:
      return order == 2;
    case Comparison::kGreaterEqual:
      break;
  }
  return *order >= 1;
}

PredicateValue predicate_value(const Literal& value) {
  switch (value.kind) {
    case TypeKind::kBoolean:
      return value.integer != 0;
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return value.number;
    case TypeKind::kDecimal:
    case TypeKind::kUuid:
      return to_text(value);
    case TypeKind::kString:
    case TypeKind::kFixed:
    case TypeKind::kBinary:
      return std::string(value.bytes);
    default:
      return value.integer;
  }
}

Question leaf(Random& random, const std::vector<ColumnType>& columns) {
  const std::size_t at = below(random, columns.size());
  const std::string name = "c" + std::to_string(at + 1);
  if (below(random, 8) == 0) {
    const bool wants_null = below(random, 2) == 0;
    return {wants_null ? Predicate::is_null(name) : Predicate::not_null(name),
            [=](const Row& row, const Engine&) -> Truth { return row[at].is_null == wants_null; },
            name + (wants_null ? " is null" : " is not null")};
  }
  const Type& type = columns[at].type;
  Literal value = random_value(random, type);
  while (value.is_null) value = random_value(random, type);
  if (type.kind == TypeKind::kFloat && below(random, 3) == 0) {
    value.number = below(random, 2) == 0 ? 0.1 : 0.7;
  }
  const auto comparison = static_cast<Comparison>(below(random, 6));
  return {Predicate::compare(name, comparison, predicate_value(value)),
          [=](const Row& row, const Engine& engine) {
            return holds(comparison, row[at], value, engine);
          },
          name + " #" + std::to_string(static_cast<int>(comparison)) + ' ' + to_text(value)};
}

Question question(Random& random, const std::vector<ColumnType>& columns, int depth) {
  const auto kind = depth == 0 ? 9 : below(random, 10);
  if (kind >= 6) return leaf(random, columns);
  const Question left = question(random, columns, depth - 1);
  if (kind < 2) {
    return {!left.predicate,
            [=](const Row& row, const Engine& engine) -> Truth {
              const Truth truth = left.evaluate(row, engine);
              return truth ? Truth(!*truth) : std::nullopt;
            },
            "not (" + left.text + ')'};
  }
  const Question right = question(random, columns, depth - 1);
  const bool decides = kind < 4;  // true decides an or, false an and
  return {decides ? left.predicate || right.predicate : left.predicate && right.predicate,
          [=](const Row& row, const Engine& engine) -> Truth {
            const Truth a = left.evaluate(row, engine);
            const Truth b = right.evaluate(row, engine);
            if (a == decides || b == decides) return decides;
            return a && b ? Truth(!decides) : std::nullopt;
          },
          '(' + left.text + (decides ? " or " : " and ") + right.text + ')'};
}

// ---- Files

struct RandomFile {
  std::vector<Row> rows;
  Row partition;
  SampleFile sample;
};

class World {
 public:
  explicit World(Random& random) : random_(random) {
    std::string columns;
    std::string fields;
    for (int id = 1; id <= 3; ++id) {
      columns_.push_back(one_of(random, column_types()));
      columns += (id > 1 ? "," : "") +
                 field(id, "c" + std::to_string(id), '"' + columns_.back().name + '"').text();
    }
    for (std::uint64_t count = below(random, 4); count > 0; --count) {
      const std::size_t at = below(random, columns_.size());
      const std::string transform = one_of(random, columns_[at].transforms);
      const std::string next = partition_field(static_cast<int>(at) + 1, transform);
      if (fields.find(next) != std::string::npos) continue;
      fields += (fields.empty() ? "" : ",") + next;
    }
    table_ = table_of(columns, fields);
  }

  [[nodiscard]] const TableMetadata& table() const { return *table_; }
  [[nodiscard]] const std::vector<ColumnType>& columns() const { return columns_; }
  [[nodiscard]] const PartitionSpec& spec() const { return table_->default_partition_spec(); }

  [[nodiscard]] Row row() {
    Row row;
    for (const ColumnType& column : columns_) row.push_back(random_value(random_, column.type));
    return row;
  }
  [[nodiscard]] Row partition_of(const Row& row) const {
    Row partition;
    for (const PartitionField& field : spec().fields) {
      const auto source = static_cast<std::size_t>(field.source_ids[0] - 1);
      partition.push_back(apply(field.transform, row[source]).value());
    }
    return partition;
  }
  [[nodiscard]] RandomFile file() {
    RandomFile file{{row()}, {}, SampleFile(0)};
    file.partition = partition_of(file.rows[0]);
    for (int attempt = 0; attempt < 30 && file.rows.size() < 6; ++attempt) {
      Row next = row();
      // Mostly the same, so that the partition is, too.
      for (std::size_t i = 0; i < next.size(); ++i) {
        if (below(random_, 2) == 0) next[i] = file.rows[0][i];
      }
      const Row partition = partition_of(next);
      if (std::equal(partition.begin(), partition.end(), file.partition.begin(), is_same)) {
        file.rows.push_back(next);
      }
    }
    file.sample = SampleFile(static_cast<std::int64_t>(file.rows.size()));
    for (const Literal& value : file.partition) file.sample.partition(value);
    for (std::size_t i = 0; i < columns_.size(); ++i) add_metrics(file, i);
    return file;
  }
  [[nodiscard]] SampleManifest manifest(const std::vector<RandomFile>& files) {
    SampleManifest manifest;
    for (std::size_t i = 0; i < spec().fields.size(); ++i) {
      Row values;
      for (const RandomFile& file : files) values.push_back(file.partition[i]);
      FieldSummary summary;
      const Counted counted = count(values);
      summary.contains_null = counted.nulls > 0;
      if (below(random_, 3) > 0) summary.contains_nan = counted.nans > 0;
      if (counted.least) {
        summary.lower_bound = kept(stored(*counted.least));
        summary.upper_bound = kept(stored(*counted.greatest));
      }
      manifest.summary(summary);
    }
    return manifest;
  }

 private:
  struct Counted {
    std::int64_t nulls = 0;
    std::int64_t nans = 0;
    std::optional<Literal> least;
    std::optional<Literal> greatest;
  };

  static Counted count(const Row& values) {
    Counted counted;
    for (const Literal& value : values) {
      const bool is_number = value.kind == TypeKind::kFloat || value.kind == TypeKind::kDouble;
      if (value.is_null) {
        ++counted.nulls;
      } else if (is_number && std::isnan(value.number)) {
        ++counted.nans;
      } else {
        if (!counted.least || compare(value, *counted.least) < 0) counted.least = value;
        if (!counted.greatest || compare(value, *counted.greatest) > 0) counted.greatest = value;
      }
    }
    return counted;
  }

  /// As some writer would: all of it, or less.
  void add_metrics(RandomFile& file, std::size_t at) {
    if (below(random_, 5) == 0) return;
    Row values;
    for (const Row& row : file.rows) values.push_back(row[at]);
    const Counted counted = count(values);
    SampleFile& sample = file.sample.column(static_cast<std::int32_t>(at) + 1);
    if (below(random_, 4) > 0) sample.nulls(counted.nulls);
    if (below(random_, 3) > 0) sample.nans(counted.nans);
    if (!counted.least) return;
    if (below(random_, 5) > 0) sample.lower_bytes(lower_bytes(*counted.least));
    if (below(random_, 5) > 0) sample.upper_bytes(upper_bytes(*counted.greatest));
  }
  [[nodiscard]] bool is_cut(const Literal& value) {
    const bool may_be = value.kind == TypeKind::kString || value.kind == TypeKind::kBinary ||
                        value.kind == TypeKind::kFixed;
    return may_be && below(random_, 2) == 0;
  }
  /// Cut to two bytes; or as long as before a promotion.
  [[nodiscard]] std::string lower_bytes(const Literal& value) {
    std::string bytes = stored(value);
    if (is_cut(value)) return bytes.substr(0, 2);
    return value.kind == TypeKind::kLong ? narrowed(value, bytes) : bytes;
  }
  [[nodiscard]] std::string upper_bytes(const Literal& value) {
    std::string bytes = stored(value);
    if (is_cut(value) && bytes.size() > 2 && bytes[1] != '\xff') {
      ++bytes[1];
      return bytes.substr(0, 2);
    }
    return value.kind == TypeKind::kLong ? narrowed(value, bytes) : bytes;
  }
  [[nodiscard]] std::string narrowed(const Literal& value, const std::string& bytes) {
    const bool fits = value.integer == static_cast<std::int32_t>(value.integer);
    return fits && below(random_, 2) == 0 ? bytes.substr(0, 4) : bytes;
  }

  Random& random_;
  std::vector<ColumnType> columns_;
  std::shared_ptr<const TableMetadata> table_;
};

bool has_match(const RandomFile& file, const Question& question) {
  return std::any_of(file.rows.begin(), file.rows.end(), [&](const Row& row) {
    return std::any_of(std::begin(kEngines), std::end(kEngines), [&](const Engine& engine) {
      return question.evaluate(row, engine) == true;
    });
  });
}

std::string text_of(const RandomFile& file) {
  std::string text = "rows:";
  for (const Row& row : file.rows) {
    text += " (";
    for (const Literal& value : row) text += to_json(value) + ' ';
    text += ')';
  }
  text += " partition:";
  for (const Literal& value : file.partition) text += ' ' + to_json(value);
  return text;
}

TEST(FileFilterSoundness, LeavesOutNoFileThatHasAMatch) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Random random(seed);
  std::size_t asked = 0;
  std::size_t left_out = 0;
  std::size_t without_match = 0;
  std::size_t manifests_left_out = 0;
  while (asked < 100'000 && !HasFailure()) {
    World world(random);
    for (int round = 0; round < 5; ++round) {
      std::vector<RandomFile> files;
      for (std::uint64_t count = 1 + below(random, 3); count > 0; --count) {
        files.push_back(world.file());
      }
      SampleManifest manifest = world.manifest(files);
      for (int i = 0; i < 20; ++i) {
        const Question asks = question(random, world.columns(), 3);
        const FileFilter filter = filter_of(asks.predicate, world.table());
        const bool reads_manifest = filter.may_match(manifest.manifest());
        if (!reads_manifest) ++manifests_left_out;
        for (RandomFile& file : files) {
          const bool matches = has_match(file, asks);
          const auto may_match = filter.may_match(file.sample.file());
          ASSERT_TRUE(may_match) << may_match.error().message();
          const bool by_partition = filter.may_match_partition(file.sample.file());
          const bool is_sound = !matches || (*may_match && by_partition && reads_manifest);
          EXPECT_TRUE(is_sound) << asks.text << '\n'
                                << text_of(file) << "\nmay match: " << *may_match
                                << ", by partition " << by_partition << ", the manifest "
                                << reads_manifest;
          ++asked;
          if (!*may_match) ++left_out;
          if (!matches) ++without_match;
        }
      }
    }
  }
  // Not merely because nothing is ever left out.
  EXPECT_GT(left_out * 2, without_match);
  EXPECT_GT(manifests_left_out * 20, asked);
  RecordProperty("files", std::to_string(asked));
  RecordProperty("without_match", std::to_string(without_match));
  RecordProperty("left_out", std::to_string(left_out));
  RecordProperty("manifests_left_out", std::to_string(manifests_left_out));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
