// Building predicates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iceblink/metadata/predicate.h>

namespace iceblink {
namespace {

using Kind = Predicate::Kind;

TEST(Predicate, HoldsWhatItWasMadeOf) {
  const Predicate predicate =
      Predicate::compare("a", Comparison::kLess, 5) && !Predicate::is_null("b.c");
  const Predicate::Node& root = predicate.root();
  EXPECT_EQ(root.kind, Kind::kAnd);
  EXPECT_EQ(root.depth, 3U);
  EXPECT_EQ(root.left->kind, Kind::kCompare);
  EXPECT_EQ(root.left->column, "a");
  EXPECT_EQ(root.left->comparison, Comparison::kLess);
  EXPECT_EQ(std::get<std::int64_t>(root.left->value), 5);
  EXPECT_EQ(root.right->kind, Kind::kNot);
  EXPECT_EQ(root.right->left->kind, Kind::kIsNull);
  EXPECT_EQ(root.right->left->column, "b.c");
  EXPECT_EQ((predicate || Predicate::not_null("d")).root().right->kind, Kind::kNotNull);
}

TEST(Predicate, TextIsNoTruthAndTruthIsNoInteger) {
  EXPECT_TRUE(std::holds_alternative<std::string>(
      Predicate::compare("a", Comparison::kEqual, "x").root().value));
  EXPECT_TRUE(
      std::holds_alternative<bool>(Predicate::compare("a", Comparison::kEqual, true).root().value));
  EXPECT_TRUE(std::holds_alternative<double>(
      Predicate::compare("a", Comparison::kEqual, 1.5).root().value));
}

TEST(Predicate, IntegersOfAnyWidthAreWhole) {
  const auto value = [](auto integer) {
    return std::get<std::int64_t>(
        Predicate::compare("a", Comparison::kEqual, integer).root().value);
  };
  EXPECT_EQ(value(std::int64_t{1} << 40), std::int64_t{1} << 40);
  EXPECT_EQ(value(0xffffffffU), 0xffffffffLL);
  EXPECT_EQ(value(short{-1}), -1);
}

TEST(Predicate, CopiesShareTheirNodes) {
  const Predicate predicate = Predicate::is_null("a");
  const Predicate copy = predicate;
  EXPECT_EQ(&copy.root(), &predicate.root());
  const Predicate twice = predicate && copy;
  EXPECT_EQ(twice.root().left.get(), twice.root().right.get());
}

TEST(Predicate, KeepsAllOfATreeUpToTheLimit) {
  Predicate predicate = Predicate::is_null("a");
  while (predicate.root().depth < Predicate::kDepthMax) {
    predicate = std::move(predicate) || Predicate::is_null("b");
  }
  const Predicate::Node* node = &predicate.root();
  while (node->kind == Kind::kOr) {
    EXPECT_EQ(node->right->column, "b");
    node = node->left.get();
  }
  EXPECT_EQ(node->column, "a");
}

TEST(Predicate, ATreeOfAnyDepthIsBuiltCountedAndFreed) {
  for (const bool leans_left : {true, false}) {
    Predicate predicate = Predicate::is_null("a");
    for (int i = 0; i < 1'000'000; ++i) {
      predicate = leans_left ? std::move(predicate) && Predicate::is_null("b")
                             : Predicate::is_null("b") && std::move(predicate);
    }
    EXPECT_EQ(predicate.root().depth, 1'000'001U);
    EXPECT_NE(predicate.root().left, nullptr);
    EXPECT_NE(predicate.root().right, nullptr);
  }
  Predicate negated = Predicate::is_null("a");
  for (int i = 0; i < 100'000; ++i) negated = !std::move(negated);
  EXPECT_EQ(negated.root().depth, 100'001U);
  EXPECT_NE(negated.root().left, nullptr);
}

}  // namespace
}  // namespace iceblink
