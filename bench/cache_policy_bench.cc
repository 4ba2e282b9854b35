// Which entries a cache of metadata should evict: hit rates, by objects and by bytes, and the cost
// of an operation, of the cache's own queues and of others, on one trace: tables asked for by
// Zipf's law, their documents of 1 KB to 10 MB, and now and then a scan over every table.
//
//   cache_policy_bench [--tables N --uses N --rounds N --cache-mib N --zipf-percent N --scans N
//                       --uses-per-scanned N --drifts N --all-variants 1]
#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/build_check.h"
#include "bench/eviction_policies.h"
#include "bench/measurement.h"
#include "bench/sample_catalog.h"

namespace {

using namespace iceblink::bench;

struct TraceOptions {
  std::size_t tables;
  std::size_t uses;
  std::size_t scans;
  std::size_t uses_per_scanned;  // one after the other
  std::size_t drifts;            // times that other tables become the popular ones
  double exponent;
};

/// Which table is used next, and how large each one's document is.
struct Trace {
  std::vector<std::uint32_t> uses;
  std::vector<std::size_t> document_bytes;
};

Trace make_trace(const TraceOptions& options, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Trace trace;
  // Small documents are many: uniform in the square root of the logarithm's range.
  std::uniform_real_distribution<double> unit(0, 1);
  for (std::size_t i = 0; i < options.tables; ++i) {
    const double position = unit(random);
    trace.document_bytes.push_back(
        static_cast<std::size_t>(1024 * std::pow(10'000.0, position * position)));
  }
  std::vector<double> sums;
  double sum = 0;
  for (std::size_t rank = 1; rank <= options.tables; ++rank) {
    sums.push_back(sum += 1 / std::pow(static_cast<double>(rank), options.exponent));
  }
  const std::size_t uses_per_scan = options.scans > 0 ? options.uses / (options.scans + 1) : 0;
  for (std::size_t i = 1; i <= options.uses; ++i) {
    const auto at = std::lower_bound(sums.begin(), sums.end(), unit(random) * sum);
    const auto rank = static_cast<std::size_t>(at - sums.begin());
    const std::size_t shift = i * (options.drifts + 1) / (options.uses + 1) * (options.tables / 3);
    trace.uses.push_back(static_cast<std::uint32_t>((rank + shift) % options.tables));
    if (uses_per_scan == 0 || i % uses_per_scan != 0) continue;
    for (std::size_t table = 0; table < options.tables; ++table) {
      trace.uses.insert(trace.uses.end(), options.uses_per_scanned,
                        static_cast<std::uint32_t>(table));
    }
  }
  return trace;
}

/// Runs the trace through one policy. An entry may take an eighth of the cache.
template <typename Policy>
void simulate(const std::string& name, Policy policy, const Trace& trace, std::size_t bytes_max,
              Samples& samples) {
  std::vector<SimulatedNode> nodes(trace.document_bytes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    nodes[i].hash = scramble(i);
    nodes[i].weight_bytes = trace.document_bytes[i];
  }
  boost::unordered_flat_map<std::uint64_t, SimulatedNode*> kept;
  std::size_t kept_bytes = 0;
  std::size_t hits = 0;
  std::size_t hit_bytes = 0;
  std::size_t used_bytes = 0;
  const std::uint64_t begin = thread_cpu_ns();
  for (const std::uint32_t table : trace.uses) {
    SimulatedNode& node = nodes[table];
    used_bytes += node.weight_bytes;
    if (kept.contains(node.hash)) {
      ++hits;
      hit_bytes += node.weight_bytes;
      policy.hit(node);
      continue;
    }
    if (node.weight_bytes > bytes_max / 8) continue;
    while (kept_bytes + node.weight_bytes > bytes_max) {
      SimulatedNode* const gone = policy.evict();
      require(gone != nullptr, "nothing to evict, and no room");
      kept_bytes -= gone->weight_bytes;
      kept.erase(gone->hash);
    }
    node.fresh_marks = 0;
    kept_bytes += node.weight_bytes;
    kept.emplace(node.hash, &node);
    policy.insert(node);
  }
  const auto elapsed_ns = static_cast<double>(thread_cpu_ns() - begin);
  const auto uses = static_cast<double>(trace.uses.size());
  samples.add(name + "/objects", static_cast<double>(hits) / uses);
  samples.add(name + "/bytes", static_cast<double>(hit_bytes) / static_cast<double>(used_bytes));
  samples.add(name + "/ns", elapsed_ns / uses);
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t rounds = number(argc, argv, "--rounds", 3);
  const std::size_t bytes_max = number(argc, argv, "--cache-mib", 128) << 20;
  const bool all_variants = number(argc, argv, "--all-variants", 0) != 0;
  const TraceOptions options{
      .tables = number(argc, argv, "--tables", 10'000),
      .uses = number(argc, argv, "--uses", 1'000'000),
      .scans = number(argc, argv, "--scans", 5),
      .uses_per_scanned = number(argc, argv, "--uses-per-scanned", 2),
      .drifts = number(argc, argv, "--drifts", 5),
      .exponent = static_cast<double>(number(argc, argv, "--zipf-percent", 90)) / 100};
  Samples samples;
  for (std::size_t round = 0; round < rounds; ++round) {
    const Trace trace = make_trace(options, round + 1);
    const auto run = [&](const std::string& name, auto policy) {
      simulate(name, std::move(policy), trace, bytes_max, samples);
    };
    run("s3_fifo", S3FifoPolicy(bytes_max, S3Fifo::Tuning{}));
    run("lru", Lru());
    run("clock", Clock());
    run("sieve", Sieve());
    if (!all_variants) continue;
    for (const double share : {0.05, 0.1, 0.2, 0.3}) {
      for (const unsigned marks : {1U, 2U}) {
        run("s3_fifo_" + std::to_string(static_cast<int>(share * 100)) + "_" +
                std::to_string(marks),
            S3FifoPolicy(bytes_max, {share, marks}));
      }
    }
  }
  samples.print();
  return 0;
}
