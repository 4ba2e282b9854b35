// Every system call of the daemon's commit path fails once, in turn and in every way that fits:
// after each, the daemon serves or has ended with a message, nothing acknowledged is lost, nothing
// refused was done, and nothing is seen in parts.
//
// ICEBLINK_FAULTS_STRIDE=N tries each Nth of them only.

#include <algorithm>
#include <cstdlib>
#include <tuple>

#include "tests/faults/campaign.h"

namespace iceblink::test {
namespace {

std::size_t stride() {
  const char* const text = std::getenv("ICEBLINK_FAULTS_STRIDE");
  return text == nullptr ? 1 : static_cast<std::size_t>(std::max(1, std::atoi(text)));
}

/// A scenario, and which half of its faults: halves run at the same time.
using Part = std::tuple<std::size_t, std::size_t>;
constexpr std::size_t kParts = 2;

class SystemCalls : public ::testing::TestWithParam<Part> {};

TEST_P(SystemCalls, MayFailOnceAndNothingIsLostOrSeenInParts) {
  const auto [scenario, part] = GetParam();
  Campaign campaign;
  campaign.prepare();
  if (HasFatalFailure()) return;
  campaign.run(commit_scenarios()[scenario], part * stride(), kParts * stride());
  if (HasFatalFailure()) return;
  campaign.finish();
}

std::string name_of(const ::testing::TestParamInfo<Part>& made) {
  return commit_scenarios()[std::get<0>(made.param)].name + std::to_string(std::get<1>(made.param));
}

INSTANTIATE_TEST_SUITE_P(
    Of, SystemCalls,
    ::testing::Combine(::testing::Range<std::size_t>(0, commit_scenarios().size()),
                       ::testing::Range<std::size_t>(0, kParts)),
    name_of);

}  // namespace
}  // namespace iceblink::test
