// What a reader pays after a flip: its first lookup, in which it maps the new arena and unmaps the
// old one; the lookups after that, which touch its pages for the first time; and as many of other
// names then. And what opening takes. Prints wall time, in ns a lookup, round by round.
//
//   flip_bench --dir DIR --tables N --rounds N --lookups N
#include <iceblink/catalog.h>

#include <algorithm>
#include <span>
#include <string>

#include "bench/measurement.h"
#include "bench/publisher_side.h"
#include "bench/sample_catalog.h"
#include "bench/scratch_dir.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

/// Wall time of looking all of them up.
double look_up(const Catalog& catalog, std::span<const TableIdent> idents, std::size_t expected) {
  const std::uint64_t begin = wall_ns();
  const auto found = std::count_if(idents.begin(), idents.end(), [&](const TableIdent& ident) {
    const auto exists = catalog.table_exists(ident);
    return exists.ok() && *exists;
  });
  const auto taken = static_cast<double>(wall_ns() - begin);
  require(static_cast<std::size_t>(found) == expected, "a lookup found the wrong thing");
  return taken;
}

double look_up_all(const Catalog& catalog, const Questions& questions) {
  const auto& bytes = questions.location_bytes;
  const auto absent = static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), 0));
  return look_up(catalog, questions.idents, bytes.size() - absent);
}

}  // namespace

int main(int argc, char** argv) {
  const ScratchDir scratch(argument(argc, argv, "--dir", "/dev/shm"));
  const std::string dir = scratch.path() + "/flips";
  const SampleCatalog sample(number(argc, argv, "--tables", 1'000'000));
  const std::size_t lookups = number(argc, argv, "--lookups", 10'000);
  const std::size_t rounds = number(argc, argv, "--rounds", 15);
  PublisherSide side(dir, sample);
  const Catalog catalog = take(Catalog::open(dir));
  const TableIdent first = sample.ident(sample.table_count() / 2);
  Samples samples;
  const auto count = static_cast<double>(lookups);
  for (std::size_t round = 0; round < rounds; ++round) {
    const Questions some = make_questions(sample, lookups, 2 * round);
    const Questions others = make_questions(sample, lookups, 2 * round + 1);
    look_up_all(catalog, some);
    require_ok(side.publisher().flip());
    samples.add("first", look_up(catalog, {&first, 1}, 1));
    samples.add("touch", look_up_all(catalog, some) / count);
    samples.add("warm", look_up_all(catalog, others) / count);
    const std::uint64_t begin = wall_ns();
    const Catalog other = take(Catalog::open(dir));
    static_cast<void>(look_up(other, {&first, 1}, 1));
    samples.add("open", static_cast<double>(wall_ns() - begin));
  }
  samples.print();
  return 0;
}
