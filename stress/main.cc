// iceblink-stress: readers, writers, and a daemon that is killed all the time. README.md.
#include <cstdio>

#include "stress/conductor.h"
#include "stress/options.h"

int main(int argc, char** argv) {
  const auto options = iceblink::stress::parse_options(argc, argv);
  if (!options) {
    std::fprintf(stderr, "iceblink-stress: %s\n", options.error().message().c_str());
    return 2;
  }
  return *options ? iceblink::stress::conduct(**options) : 0;
}
