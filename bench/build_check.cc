#include "bench/build_check.h"

#include <lmdb.h>
#include <xxhash.h>

#include <boost/version.hpp>

#include "shm/layout.h"

namespace iceblink::bench {

std::string unfit_because() {
#if !defined(__OPTIMIZE__)
  return "it is not optimised";
#elif !defined(NDEBUG)
  return "assertions are on";
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "a sanitizer is on";
#elif defined(ICEBLINK_FAULT_POINTS)
  return "fault points are on";
#else
  return "";
#endif
}

std::string build_as_json() {
  const auto pair = [](const char* key, const std::string& value) {
    return "\"" + std::string(key) + "\": \"" + value + "\"";
  };
  return "{" + pair("unfit", unfit_because()) + ", " + pair("compiler", "g++ " __VERSION__) + ", " +
         pair("iceblink", ICEBLINK_VERSION) + ", " +
         pair("layout", std::to_string(shm::kLayoutVersion)) + ", " +
         pair("boost", BOOST_LIB_VERSION) + ", " +
         pair("lmdb", std::to_string(MDB_VERSION_MAJOR) + "." + std::to_string(MDB_VERSION_MINOR) +
                          "." + std::to_string(MDB_VERSION_PATCH)) +
         ", " + pair("xxhash", std::to_string(XXH_versionNumber())) + "}";
}

}  // namespace iceblink::bench
