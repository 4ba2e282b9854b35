#include "iceberg/pruning/bound_predicate.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>

#include "iceberg/pruning/predicate_value.h"
#include "iceberg/pruning/transforms.h"
#include "iceberg/utf8.h"

namespace iceblink::iceberg {
namespace {

using Node = Predicate::Node;
using Path = std::vector<const Field*>;

enum class Negation : std::uint8_t { kNone, kNegated };

/// Fills `path` from the outermost field to the one of that name.
bool find_path(std::span<const Field> fields, std::string_view name, Path& path) {
  for (const Field& field : fields) {
    if (field.name != name) continue;
    path.push_back(&field);
    return true;
  }
  for (const Field& field : fields) {
    const bool begins = name.size() > field.name.size() && name.starts_with(field.name) &&
                        name[field.name.size()] == '.';
    if (!begins || field.type.kind != TypeKind::kStruct) continue;
    path.push_back(&field);
    if (find_path(field.type.fields, name.substr(field.name.size() + 1), path)) return true;
    path.pop_back();
  }
  return false;
}

/// Whether the name leads into a list or a map.
bool leads_into_repeated(std::span<const Field> fields, std::string_view name) {
  return std::any_of(fields.begin(), fields.end(), [&](const Field& field) {
    const bool begins = name.size() > field.name.size() && name.starts_with(field.name) &&
                        name[field.name.size()] == '.';
    if (!begins) return false;
    if (field.type.kind == TypeKind::kList || field.type.kind == TypeKind::kMap) return true;
    return leads_into_repeated(field.type.fields, name.substr(field.name.size() + 1));
  });
}

/// Whether all of the path is there, and required, in that schema.
bool is_required_in(const Schema& schema, const Path& path) noexcept {
  std::span<const Field> fields = schema.fields;
  for (const Field* const wanted : path) {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const Field& field) { return field.id == wanted->id; });
    if (found == fields.end() || !found->required) return false;
    fields = found->type.fields;
  }
  return true;
}

Comparison opposite(Comparison comparison) noexcept {
  switch (comparison) {
    case Comparison::kEqual:
      return Comparison::kNotEqual;
    case Comparison::kNotEqual:
      return Comparison::kEqual;
    case Comparison::kLess:
      return Comparison::kGreaterEqual;
    case Comparison::kLessEqual:
      return Comparison::kGreater;
    case Comparison::kGreater:
      return Comparison::kLessEqual;
    case Comparison::kGreaterEqual:
      break;
  }
  return Comparison::kLess;
}

/// "x <= 1" holds for no NaN, and "not x > 1" for all of them where "x > 1" holds for none.
NanMatch nan_match(Comparison comparison, Negation negation) noexcept {
  const bool never = comparison == Comparison::kEqual ||
                     (negation == Negation::kNone &&
                      (comparison == Comparison::kLess || comparison == Comparison::kLessEqual));
  return never ? NanMatch::kNever : NanMatch::kPossible;
}

/// For all values of a column, if the other one stands beyond them.
bool holds_for_all(Comparison comparison, ValuePlace place) noexcept {
  switch (comparison) {
    case Comparison::kEqual:
      return false;
    case Comparison::kNotEqual:
      return true;
    case Comparison::kLess:
    case Comparison::kLessEqual:
      return place == ValuePlace::kAboveAll;
    case Comparison::kGreater:
    case Comparison::kGreaterEqual:
      break;
  }
  return place == ValuePlace::kBelowAll;
}

Error refused(std::string_view column, std::string_view what) {
  return {ErrorKind::kInvalidArgument, on_one_line(column) + ": " + std::string(what)};
}

}  // namespace

class Binder {
 public:
  Binder(const Schema& schema, std::span<const Schema> schemas) noexcept
      : schema_(schema), schemas_(schemas) {}

  /// Appends the nodes that it becomes. The last one is its root.
  [[nodiscard]] Status bind(const Node& node, Negation negation) {
    switch (node.kind) {
      case Predicate::Kind::kCompare:
        return bind_comparison(node, negation);
      case Predicate::Kind::kIsNull:
      case Predicate::Kind::kNotNull:
        return bind_null_test(node, negation);
      case Predicate::Kind::kNot:
        return bind(*node.left, negation == Negation::kNone ? Negation::kNegated : Negation::kNone);
      case Predicate::Kind::kAnd:
      case Predicate::Kind::kOr:
        break;
    }
    BoundNode both;
    const bool is_and = (node.kind == Predicate::Kind::kAnd) == (negation == Negation::kNone);
    both.kind = is_and ? BoundNode::Kind::kAnd : BoundNode::Kind::kOr;
    ICEBLINK_RETURN_IF_ERROR(bind(*node.left, negation));
    both.left = last();
    ICEBLINK_RETURN_IF_ERROR(bind(*node.right, negation));
    both.right = last();
    return add(both);
  }

  [[nodiscard]] BoundPredicate take() { return std::move(bound_); }

 private:
  [[nodiscard]] Status add(const BoundNode& node) {
    if (bound_.nodes_.size() == BoundPredicate::kNodesMax) {
      return Error(ErrorKind::kInvalidArgument, "a predicate of more than " +
                                                    std::to_string(BoundPredicate::kNodesMax) +
                                                    " comparisons, null tests, ands and ors");
    }
    bound_.nodes_.push_back(node);
    return Ok{};
  }
  [[nodiscard]] std::uint32_t last() const noexcept {
    return static_cast<std::uint32_t>(bound_.nodes_.size() - 1);
  }

  /// Index of the column of that name.
  [[nodiscard]] Result<std::uint32_t> find_column(const std::string& name) {
    if (const auto known = columns_by_name_.find(name); known != columns_by_name_.end()) {
      return known->second;
    }
    auto& columns = bound_.columns_;
    Path path;
    if (!find_path(schema_.fields, name, path)) {
      return refused(name, leads_into_repeated(schema_.fields, name)
                               ? "is inside of a list or map, which no predicate looks into"
                               : "the schema has no such column");
    }
    const bool has_optional_parent = std::any_of(
        path.begin(), path.end() - 1, [](const Field* parent) { return !parent->required; });
    const bool is_never_null =
        is_required_in(schema_, path) &&
        std::all_of(schemas_.begin(), schemas_.end(),
                    [&](const Schema& schema) { return is_required_in(schema, path); });
    columns.push_back({path.back(), name, has_optional_parent, is_never_null, {}});
    for (const Schema& schema : schemas_) {
      const Field* const other = schema.find_field(path.back()->id);
      if (other != nullptr && other->type.kind != path.back()->type.kind) {
        columns.back().other_types.push_back(&other->type);
      }
    }
    const auto index = static_cast<std::uint32_t>(columns.size() - 1);
    columns_by_name_.emplace(name, index);
    return index;
  }

  [[nodiscard]] Status bind_null_test(const Node& node, Negation negation) {
    BoundNode test;
    ICEBLINK_ASSIGN_OR_RETURN(test.column, find_column(node.column));
    const bool is_null = (node.kind == Predicate::Kind::kIsNull) == (negation == Negation::kNone);
    test.kind = is_null ? BoundNode::Kind::kIsNull : BoundNode::Kind::kNotNull;
    if (is_null && bound_.columns_[test.column].is_never_null) {
      test.kind = BoundNode::Kind::kNever;
    }
    return add(test);
  }

  [[nodiscard]] Status bind_comparison(const Node& node, Negation negation) {
    BoundNode bound;
    ICEBLINK_ASSIGN_OR_RETURN(bound.column, find_column(node.column));
    std::string unused;
    std::string& storage =
        std::holds_alternative<std::string>(node.value) ? bound_.texts_.emplace_back() : unused;
    const Type& type = bound_.columns_[bound.column].field->type;
    const auto value = compared_value(type, node.value, storage);
    if (!value) return refused(node.column, value.error().message());
    bound.comparison = negation == Negation::kNone ? node.comparison : opposite(node.comparison);
    bound.nan = nan_match(bound.comparison, negation);
    if (value->place == ValuePlace::kWithin) {
      bound.kind = BoundNode::Kind::kCompare;
      bound.low = value->low;
      bound.high = value->high;
      if (bound.comparison == Comparison::kEqual) bound.hash = bucket_hash(bound.low);
    } else if (value->place == ValuePlace::kNan || holds_for_all(bound.comparison, value->place)) {
      bound.kind = BoundNode::Kind::kNotNull;
    }
    return add(bound);
  }

  const Schema& schema_;
  std::span<const Schema> schemas_;
  std::unordered_map<std::string, std::uint32_t> columns_by_name_;
  BoundPredicate bound_;
};

Result<BoundPredicate> BoundPredicate::bind(const Predicate& predicate, const Schema& schema,
                                            std::span<const Schema> schemas) {
  if (predicate.root().depth > Predicate::kDepthMax) {
    return Error(ErrorKind::kInvalidArgument,
                 "a predicate that is nested " + std::to_string(predicate.root().depth) +
                     " deep, where " + std::to_string(Predicate::kDepthMax) + " is the limit");
  }
  Binder binder(schema, schemas);
  ICEBLINK_RETURN_IF_ERROR(binder.bind(predicate.root(), Negation::kNone));
  return binder.take();
}

}  // namespace iceblink::iceberg
