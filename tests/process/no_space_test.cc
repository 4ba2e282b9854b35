// A tmpfs of four megabytes: what does not fit is refused before it is durable, with a clear error,
// and everything else goes on.

#include "tests/process/world.h"

namespace iceblink::test {
namespace {

TableIdent table_number(int i) {
  return {{"ns"}, "t" + std::to_string(i)};
}

Result<std::uint64_t> put_many(Catalog& catalog, int from, int count) {
  RegisterOptions options;
  options.verification = RegisterOptions::Verification::kUnverified;
  Batch batch;
  for (int i = from; i < from + count; ++i) {
    batch.register_table(table_number(i), std::string(300, 'x') + std::to_string(i), options);
  }
  return catalog.apply(batch);
}

// In a mount namespace of its own. Empty, or what was wrong.
std::string fill_up() {
  World world;
  if (!world.use_small_tmpfs("4m")) return "cannot mount a tmpfs: this test runs as root";
  if (!world.start()) return "start";
  Catalog catalog = world.open();
  if (!catalog.create_namespace({"ns"})) return "create";
  constexpr int kBatch = 200;
  int tables = 0;
  std::optional<Error> refusal;
  while (!refusal && tables < 100'000) {
    const auto done = put_many(catalog, tables, kBatch);
    if (done) {
      tables += kBatch;
    } else {
      refusal = done.error();
    }
  }
  if (!refusal || refusal->kind() != ErrorKind::kNoSpace) {
    return "expected kNoSpace, got " + (refusal ? refusal->message() : "nothing");
  }
  if (refusal->message().find("arena.") == std::string::npos) {
    return "the error does not name the arena: " + refusal->message();
  }
  if (tables < 1000) return "only " + std::to_string(tables) + " tables fit";
  // All that was acknowledged is there, nothing of the refused batch, and small commits go on.
  for (int i = 0; i < tables + kBatch; ++i) {
    const auto exists = catalog.table_exists(table_number(i));
    if (!exists || *exists != (i < tables)) return "table " + std::to_string(i);
  }
  if (!catalog.drop_table(table_number(0))) return "a drop no longer fits";
  // And so it is after a restart.
  world.kill_daemon();
  if (!world.start()) return "restart: " + world.daemon().errors();
  for (int i = 1; i < tables; ++i) {
    const auto exists = catalog.table_exists(table_number(i));
    if (!exists || !*exists) return "lost table " + std::to_string(i);
  }
  return world.verify().empty() ? "" : world.verify().front();
}

TEST(NoSpace, OnASmallTmpfsRefusesWhatDoesNotFitAndLosesNothing) {
  expect_in_child(fill_up);
}

}  // namespace
}  // namespace iceblink::test
