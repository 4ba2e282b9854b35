// What a scan is looking for, as far as files can be left out by it.
//
//   using iceblink::Predicate;
//   auto wanted = Predicate::compare("event_date", Comparison::kGreaterEqual, "2026-01-31") &&
//                 !Predicate::is_null("user.id");
//
// Thread safety: immutable values; copies share.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace iceblink {

enum class Comparison : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
};

/// What a column is compared with. A column takes: boolean: bool; int, long: std::int64_t; float,
/// double: double or std::int64_t; decimal: std::int64_t, or text ("14.20") whose digits fit its
/// scale; date, time and timestamps: std::int64_t in the type's own unit (Literal), or text
/// ("2026-01-31", "22:31:08", "2026-01-31T22:31:08.5", with an offset for those with a zone); uuid:
/// its text; string: text; fixed and binary: bytes.
using PredicateValue = std::variant<bool, std::int64_t, double, std::string>;

class Predicate {
 public:
  enum class Kind : std::uint8_t { kCompare, kIsNull, kNotNull, kAnd, kOr, kNot };
  struct Node;
  /// What is nested deeper is refused when it meets a schema. Of such a tree the depth alone is
  /// kept; what is below its root is gone.
  static constexpr std::uint32_t kDepthMax = 1000;

  // `column`: a top-level column's exact name, or the names from there into structs, with dots
  // between ("user.id"). Whether it is there, and takes such a value, is found out when the
  // predicate meets a schema. All throw std::bad_alloc.
  [[nodiscard]] static Predicate compare(std::string column, Comparison comparison,
                                         PredicateValue value);
  /// Text, where a pointer would be taken for a bool.
  [[nodiscard]] static Predicate compare(std::string column, Comparison comparison,
                                         const char* text) {
    return compare(std::move(column), comparison, PredicateValue(std::string(text)));
  }
  /// Any integer of at most 64 bits; and no other number, which would be cut to one.
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool> &&
           (std::is_signed_v<Integer> || sizeof(Integer) < sizeof(std::int64_t)))
      [[nodiscard]] static Predicate
      compare(std::string column, Comparison comparison, Integer value) {
    return compare(std::move(column), comparison, PredicateValue(std::int64_t{value}));
  }
  [[nodiscard]] static Predicate is_null(std::string column);
  [[nodiscard]] static Predicate not_null(std::string column);

  // Both sides are there; nothing is evaluated.
  [[nodiscard]] friend Predicate operator&&(Predicate left, Predicate right) {
    return make_both(Kind::kAnd, std::move(left), std::move(right));
  }
  [[nodiscard]] friend Predicate operator||(Predicate left, Predicate right) {
    return make_both(Kind::kOr, std::move(left), std::move(right));
  }
  [[nodiscard]] friend Predicate operator!(Predicate negated) {
    return make_not(std::move(negated));
  }

  [[nodiscard]] const Node& root() const noexcept { return *root_; }

 private:
  explicit Predicate(std::shared_ptr<const Node> root) noexcept : root_(std::move(root)) {}
  [[nodiscard]] static Predicate make_both(Kind kind, Predicate left, Predicate right);
  [[nodiscard]] static Predicate make_not(Predicate negated);

  std::shared_ptr<const Node> root_;
};

struct Predicate::Node {
  Kind kind = Kind::kIsNull;
  std::uint32_t depth = 1;  ///< of the tree below, itself included
  // kCompare, kIsNull, kNotNull:
  std::string column;
  Comparison comparison = Comparison::kEqual;
  PredicateValue value;
  // kAnd, kOr: both; kNot: left.
  std::shared_ptr<const Node> left;
  std::shared_ptr<const Node> right;
};

}  // namespace iceblink
