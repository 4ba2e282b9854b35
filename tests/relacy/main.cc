// relacy_search SCENARIO DIRECTORY [--runs N] [--weaken PLACE] [--history]
// Runs one scenario N times, each with another interleaving and other choices of what relaxed and
// acquiring loads may see. The directory is its own, best on a tmpfs. Exit code: 0 nothing was
// found, 3 something was (it is named), 2 usage.
#include "tests/relacy/relacy.h"
// (above: Relacy wants its own headers first)
#include <cstdlib>
#include <cstring>

#include "tests/relacy/fiber.h"
#include "tests/relacy/model_memory.h"
#include "tests/relacy/scenario.h"

extern "C" char __libc_single_threaded;

namespace {

using namespace iceblink::relacy;

std::unique_ptr<Scenario> scenario;

template <int kThreads>
struct Suite : rl::test_suite<Suite<kThreads>, kThreads> {
  void before() {
    begin_run();
    begin_files();
    scenario->prepare();
  }
  void thread(unsigned index) {
    const int number = static_cast<int>(index);
    begin_fiber(number);
    if (number == kBuilder && scenario->has_builder()) {
      run_made_thread();
    } else {
      scenario->run(number);
    }
    run_thread_exits(number);
    end_fiber();
  }
  void after() {
    end_threads();
    scenario->finish();
    free_buried();
  }
};

template <int kThreads>
rl::test_result_e search(rl::test_params& parameters) {
  std::ostringstream state;
  return rl::run_test<Suite<kThreads>, rl::random_scheduler<kThreads>>(parameters, state, false);
}

int usage() {
  std::fputs("relacy_search SCENARIO DIRECTORY [--runs N] [--weaken PLACE] [--history]\nscenarios:",
             stderr);
  for (const auto name : scenario_names()) std::fprintf(stderr, " %s", std::string(name).c_str());
  std::fputs("\n", stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  __libc_single_threaded = 0;  // so that references are counted as between threads
  rl::test_params parameters;
  parameters.iteration_count = 1000;
  parameters.execution_depth_limit = 200'000;
  if (argc < 3) return usage();
  for (int i = 3; i < argc; ++i) {
    if (std::strcmp(argv[i], "--runs") == 0 && i + 1 < argc) {
      parameters.iteration_count = std::strtoull(argv[++i], nullptr, 10);
    } else if (std::strcmp(argv[i], "--weaken") == 0 && i + 1 < argc) {
      weaken(argv[++i]);
    } else if (std::strcmp(argv[i], "--history") == 0) {
      parameters.collect_history = true;
    } else {
      return usage();
    }
  }
  scenario = make_scenario(argv[1], argv[2]);
  if (scenario == nullptr) return usage();
  std::ostringstream progress;
  parameters.progress_stream = &progress;
  const rl::test_result_e result =
      scenario->threads() == 3 ? search<3>(parameters) : search<4>(parameters);
  print_reached();
  if (const char* why = found_what(); *why != 0) std::printf("%s: ", why);
  std::printf("%s after %llu runs\n",
              result == rl::test_result_success ? "clean" : rl::test_result_str(result),
              static_cast<unsigned long long>(parameters.stop_iteration));
  std::fflush(nullptr);
  // Fibers of a search that has found something are left where they stood.
  std::_Exit(result == rl::test_result_success ? 0 : 3);
}
