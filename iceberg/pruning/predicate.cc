#include <iceblink/metadata/predicate.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>

namespace iceblink {
namespace {

using Node = Predicate::Node;

/// What stands below a node that is nested too deep, so that freeing a tree does not recurse as far
/// as its builder went.
std::shared_ptr<const Node> anything() {
  return std::make_shared<const Node>();
}

std::uint32_t one_deeper(std::uint32_t depth) noexcept {
  return depth == std::numeric_limits<std::uint32_t>::max() ? depth : depth + 1;
}

}  // namespace

Predicate Predicate::compare(std::string column, Comparison comparison, PredicateValue value) {
  const auto node = std::make_shared<Node>();
  node->kind = Kind::kCompare;
  node->column = std::move(column);
  node->comparison = comparison;
  node->value = std::move(value);
  return Predicate(node);
}

Predicate Predicate::is_null(std::string column) {
  const auto node = std::make_shared<Node>();
  node->kind = Kind::kIsNull;
  node->column = std::move(column);
  return Predicate(node);
}

Predicate Predicate::not_null(std::string column) {
  const auto node = std::make_shared<Node>();
  node->kind = Kind::kNotNull;
  node->column = std::move(column);
  return Predicate(node);
}

Predicate Predicate::make_both(Kind kind, Predicate left, Predicate right) {
  const auto node = std::make_shared<Node>();
  node->kind = kind;
  node->depth = one_deeper(std::max(left.root().depth, right.root().depth));
  const bool is_kept = node->depth <= kDepthMax;
  node->left = is_kept ? std::move(left.root_) : anything();
  node->right = is_kept ? std::move(right.root_) : node->left;
  return Predicate(node);
}

Predicate Predicate::make_not(Predicate negated) {
  const auto node = std::make_shared<Node>();
  node->kind = Kind::kNot;
  node->depth = one_deeper(negated.root().depth);
  node->left = node->depth <= kDepthMax ? std::move(negated.root_) : anything();
  return Predicate(node);
}

}  // namespace iceblink
