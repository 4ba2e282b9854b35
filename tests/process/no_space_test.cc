// A tmpfs of four megabytes: what does not fit is refused before it is durable, with a clear error,
// and everything else goes on.

#include <filesystem>

#include "tests/http/metadata_samples.h"
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

// Every table of 0 .. `count` is there, and none behind. Empty, or what was wrong.
std::string check_tables(Catalog& catalog, int count, int behind) {
  for (int i = 0; i < count + behind; ++i) {
    const auto exists = catalog.table_exists(table_number(i));
    if (!exists || *exists != (i < count)) return "table " + std::to_string(i);
  }
  return {};
}

// In a mount namespace of its own. The store's map is small at first, and grows until the disk is
// full.
std::string fill_the_data_disk() {
  World world;
  if (!world.use_small_data_disk("8m")) return "cannot mount a tmpfs: this test runs as root";
  const std::string ballast = world.data_dir() + "/ballast";
  write_file(ballast, std::string(2 << 20, 'b'));
  const std::vector<std::string> small_map{"--map-bytes", "1048576"};
  if (!world.start(small_map)) return "start";
  Catalog catalog = world.open();
  if (!catalog.create_namespace({"ns"})) return "create";
  constexpr int kBatch = 50;
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
  if (refusal->message().find(world.data_dir()) == std::string::npos) {
    return "the error does not name the directory: " + refusal->message();
  }
  if (tables < 2000) return "only " + std::to_string(tables) + " tables fit: did the map grow?";
  if (auto wrong = check_tables(catalog, tables, kBatch); !wrong.empty()) return wrong;
  // A restart needs no room, and finds all of it.
  world.kill_daemon();
  if (!world.start(small_map)) return "restart on a full disk: " + world.daemon().errors();
  Catalog again = world.open();
  if (auto wrong = check_tables(again, tables, kBatch); !wrong.empty()) return "again: " + wrong;
  const auto still_full = put_many(again, tables, kBatch);
  if (still_full || still_full.error().kind() != ErrorKind::kNoSpace) return "room from nowhere";
  std::filesystem::remove(ballast);
  if (!put_many(again, tables, kBatch)) return "no commit though there is room again";
  if (auto wrong = check_tables(again, tables + kBatch, 1); !wrong.empty())
    return "after: " + wrong;
  return world.verify().empty() ? "" : world.verify().front();
}

TEST(NoSpace, OnAFullDataDiskRefusesByNameAndGoesOnWhenThereIsRoom) {
  expect_in_child(fill_the_data_disk);
}

TEST(NoSpace, OnASmallTmpfsRefusesWhatDoesNotFitAndLosesNothing) {
  expect_in_child(fill_up);
}

}  // namespace
}  // namespace iceblink::test
