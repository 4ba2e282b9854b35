// Every system call of the daemon's commit path fails once, in turn and in every way that fits:
// after each, the daemon serves or has ended with a message, nothing acknowledged is lost, nothing
// refused was done, and nothing is seen in parts.
//
// ICEBLINK_FAULTS_STRIDE=N tries each Nth of them only.

#include <algorithm>
#include <cstdlib>

#include "tests/faults/campaign.h"

namespace iceblink::test {
namespace {

std::size_t stride() {
  const char* const text = std::getenv("ICEBLINK_FAULTS_STRIDE");
  return text == nullptr ? 1 : static_cast<std::size_t>(std::max(1, std::atoi(text)));
}

class SystemCalls : public ::testing::TestWithParam<std::size_t> {};

TEST_P(SystemCalls, MayFailOnceAndNothingIsLostOrSeenInParts) {
  Campaign campaign;
  campaign.prepare();
  if (HasFatalFailure()) return;
  campaign.run(commit_scenarios()[GetParam()], stride());
  if (HasFatalFailure()) return;
  campaign.finish();
}

INSTANTIATE_TEST_SUITE_P(Of, SystemCalls,
                         ::testing::Range<std::size_t>(0, commit_scenarios().size()),
                         [](const auto& scenario) {
                           return commit_scenarios()[scenario.param].name;
                         });

}  // namespace
}  // namespace iceblink::test
