// A segment made from memory, and a catalog on it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iceblink/catalog.h>

#include <string>

#include "tests/shm/memory_store.h"

namespace iceblink::testing {

using shm::RecordKind;
using shm::testing::MemoryStore;
using shm::testing::TempDir;

inline TableIdent ident(Namespace levels, std::string name) {
  return {std::move(levels), std::move(name)};
}

class SegmentTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_OK(store_.start(dir_.path())); }

  Catalog open(CatalogOptions options = {}) {
    auto catalog = Catalog::open(dir_.path(), options);
    if (!catalog) ADD_FAILURE() << catalog.error().message();
    return std::move(*catalog);
  }
  void commit() { ASSERT_OK(store_.commit()); }
  void flip() { ASSERT_OK(store_.publisher().flip()); }
  /// One namespace, "a", and tables "t0" and so on in it, at "s3://t0" and so on.
  void commit_tables(int count) {
    store_.put_namespace({"a"});
    for (int i = 0; i < count; ++i) {
      const std::string name = "t" + std::to_string(i);
      store_.put_table(ident({"a"}, name), "s3://" + name);
    }
    commit();
  }

  TempDir dir_;
  MemoryStore store_;
};

/// The kind of a result that must be an error.
template <typename T>
ErrorKind kind_of(const Result<T>& result) {
  EXPECT_FALSE(result.ok());
  return result.ok() ? ErrorKind::kInternal : result.error().kind();
}

/// EXPECT_THAT(result, IsValue(3))
MATCHER_P(IsValue, expected, "") {
  if (!arg.ok()) {
    *result_listener << "error: " << arg.error().message();
    return false;
  }
  return ::testing::ExplainMatchResult(::testing::Eq(expected), *arg, result_listener);
}
MATCHER_P(IsError, kind, std::string(to_string(kind))) {
  if (arg.ok()) {
    *result_listener << "is a value";
    return false;
  }
  *result_listener << to_string(arg.error().kind()) << ": " << arg.error().message();
  return arg.error().kind() == kind;
}

}  // namespace iceblink::testing
