#include "stress/options.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <random>

#include "shm/fault_point.h"
#include "stress/key_space.h"

namespace iceblink::stress {

Result<std::optional<Options>> parse_options(int argc, char** argv) {
  Options options;
  std::random_device device;
  options.seed = (std::uint64_t{device()} << 32) | device();
  CLI::App app(
      "Readers and writers against a daemon that is killed all the time; every answer is "
      "judged.\nEnds with 0: nothing lost, nothing wrong; 1: something was; 2: it could "
      "not be run.\nThe schedule (who, what, kills, fault points) follows from the seed; "
      "how the processes interleave does not.");
  app.add_option("--seconds", options.seconds, "How long")->check(CLI::Range(1U, 1'000'000U));
  app.add_option("--seed", options.seed, "Of the schedule (default: by chance)");
  app.add_option("--readers", options.readers, "Processes that read")->check(CLI::Range(1U, 12U));
  app.add_option("--writers", options.writers, "Processes that write")
      ->check(CLI::Range(1U, kWritersMax));
  app.add_option("--kills-per-minute", options.kills_per_minute, "Ends of daemons")
      ->check(CLI::Range(1U, 300U));
  app.add_option("--dir", options.dir, "Where a directory is made for the run")
      ->check(CLI::ExistingDirectory);
  app.add_option("--plant", options.plant,
                 "A planted fault (builds with fault points): lost-publish, mixed-snapshot, "
                 "backwards-generation, lost-commit");
  app.add_flag("--keep", options.keeps_files, "Leave the store and the daemon's log");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return std::optional<Options>{};
  } catch (const CLI::ParseError& error) {
    return {ErrorKind::kInvalidArgument, error.what()};
  }
  if (!options.plant.empty()) {
    if (const Status can = shm::arm_fault_point(shm::kPlantedPrefix + options.plant); !can) {
      return {ErrorKind::kInvalidArgument, "--plant: " + can.error().message()};
    }
  }
  return std::optional(options);
}

}  // namespace iceblink::stress
