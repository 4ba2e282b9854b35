// A predicate that has met a schema: columns are known by their ids, values are literals of their
// types, and there are no negations left.
//
// Thread safety: immutable once made.
//
// Invariant: a row for which the predicate is true makes the bound one true. The other way round
// need not hold where engines disagree: on NaN, and on numbers that a column would round.
#pragma once

#include <iceblink/metadata/literal.h>
#include <iceblink/metadata/predicate.h>
#include <iceblink/metadata/schema.h>
#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace iceblink::iceberg {

struct BoundColumn {
  const Field* field = nullptr;
  std::string name;                  ///< as the predicate has it
  bool has_optional_parent = false;  ///< within a struct that may be null
  /// By all schemas: files may be older than one that requires the column.
  bool is_never_null = false;
  /// That other schemas of the table have it as: files may be older or newer than the schema.
  std::vector<const Type*> other_types;
};

/// Whether a comparison may hold for NaN in some engine. Some take it for greater than all numbers,
/// in others no comparison but "not equal" holds.
enum class NanMatch : std::uint8_t { kNever, kPossible };

struct BoundNode {
  enum class Kind : std::uint8_t { kNever, kCompare, kIsNull, kNotNull, kAnd, kOr };

  Kind kind = Kind::kNever;
  Comparison comparison = Comparison::kEqual;
  NanMatch nan = NanMatch::kNever;
  std::uint32_t column = 0;  ///< index into columns()
  // kCompare: the value is something from the one to the other, mostly one and the same.
  Literal low;
  Literal high;
  std::optional<std::int32_t> hash;  ///< for buckets; kEqual
  // kAnd, kOr: indices of nodes.
  std::uint32_t left = 0;
  std::uint32_t right = 0;
};

class BoundPredicate {
 public:
  /// `schemas` are all that the table has. `schema` outlives what is made. kInvalidArgument: names
  /// no column, or not what it can be compared with ("user.id: …"); nested deeper than
  /// Predicate::kDepthMax; more than kNodesMax nodes, shared ones counted each time they are met.
  /// Throws std::bad_alloc.
  [[nodiscard]] static Result<BoundPredicate> bind(const Predicate& predicate, const Schema& schema,
                                                   std::span<const Schema> schemas);

  static constexpr std::size_t kNodesMax = 100'000;

  /// Those that are named in the predicate, each once.
  [[nodiscard]] std::span<const BoundColumn> columns() const noexcept { return columns_; }
  /// Children before their parents; the last one is the root.
  [[nodiscard]] std::span<const BoundNode> nodes() const noexcept { return nodes_; }

  /// Whether it may be true, given whether its leaves may be.
  template <typename LeafMayMatch>
  [[nodiscard]] bool may_match(const LeafMayMatch& leaf_may_match) const {
    return may_match(nodes_.back(), leaf_may_match);
  }

 private:
  friend class Binder;

  template <typename LeafMayMatch>
  [[nodiscard]] bool may_match(const BoundNode& node, const LeafMayMatch& leaf_may_match) const {
    switch (node.kind) {
      case BoundNode::Kind::kNever:
        return false;
      case BoundNode::Kind::kAnd:
        return may_match(nodes_[node.left], leaf_may_match) &&
               may_match(nodes_[node.right], leaf_may_match);
      case BoundNode::Kind::kOr:
        return may_match(nodes_[node.left], leaf_may_match) ||
               may_match(nodes_[node.right], leaf_may_match);
      default:
        return leaf_may_match(node);
    }
  }

  std::vector<BoundNode> nodes_;
  std::vector<BoundColumn> columns_;
  std::list<std::string> texts_;  // what literals borrow; a list, whose moves allocate nothing
};

}  // namespace iceblink::iceberg
