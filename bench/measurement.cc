#include "bench/measurement.h"

#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "bench/build_check.h"

namespace iceblink::bench {

void fail(const std::string& what) {
  std::fprintf(stderr, "%s: %s\n", ::program_invocation_short_name, what.c_str());
  std::_Exit(1);
}

double quantile(std::vector<std::uint64_t>& samples, double quantile) {
  require(!samples.empty(), "no samples");
  std::sort(samples.begin(), samples.end());
  const auto last = static_cast<double>(samples.size() - 1);
  return static_cast<double>(samples[static_cast<std::size_t>(quantile * last)]);
}

void Samples::print() const {
  if (const std::string why = unfit_because(); !why.empty()) {
    std::fprintf(stderr, "These figures mean nothing, because of the build: %s.\n", why.c_str());
  }
  std::printf("{");
  const char* before_name = "";
  for (const auto& [name, values] : values_) {
    std::printf("%s\n\"%s\": [", before_name, name.c_str());
    before_name = ",";
    const char* before_value = "";
    for (const double value : values) {
      std::printf("%s%.6g", before_value, value);
      before_value = ", ";
    }
    std::printf("]");
  }
  std::printf("\n}\n");
}

void pin_to_cpu(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  static_cast<void>(::sched_setaffinity(0, sizeof(set), &set));
}

std::string argument(int argc, char** argv, const std::string& name, const std::string& otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (name == argv[i]) return argv[i + 1];
  }
  return otherwise;
}

std::size_t number(int argc, char** argv, const std::string& name, std::size_t otherwise) {
  const std::string text = argument(argc, argv, name, "");
  return text.empty() ? otherwise : std::strtoull(text.c_str(), nullptr, 10);
}

}  // namespace iceblink::bench
