// Certificates that sign themselves, made anew.
#pragma once

#include <string>

namespace iceblink::test {

struct Certificate {
  std::string certificate_pem;
  std::string key_pem;
};

/// Of an elliptic key, valid for a day.
[[nodiscard]] Certificate make_certificate(const std::string& name);

}  // namespace iceblink::test
