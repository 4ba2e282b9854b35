# iceblink::flags: warnings, sanitizers and the fault points, for every target of the project.
add_library(iceblink_flags INTERFACE)
add_library(iceblink::flags ALIAS iceblink_flags)
target_compile_options(iceblink_flags INTERFACE
  -Wall -Wextra -Werror -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -Wcast-align -Wnull-dereference)
# g++ 12 reports false positives of these in the standard library and Boost at -O2 and above.
target_compile_options(iceblink_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU>:-Wno-null-dereference -Wno-restrict -Wno-maybe-uninitialized>)
target_include_directories(iceblink_flags INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
if(ICEBLINK_SANITIZE)
  target_compile_options(iceblink_flags INTERFACE
    -fsanitize=${ICEBLINK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(iceblink_flags INTERFACE -fsanitize=${ICEBLINK_SANITIZE})
endif()
if(ICEBLINK_SANITIZE MATCHES thread)
  # It does not know fences; the one there is serves kernels without membarrier.
  target_compile_options(iceblink_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()
if(ICEBLINK_FUZZ)
  target_compile_options(iceblink_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(ICEBLINK_FAULT_POINTS)
  target_compile_definitions(iceblink_flags INTERFACE ICEBLINK_FAULT_POINTS=1)
endif()
target_compile_definitions(iceblink_flags INTERFACE ICEBLINK_VERSION="${PROJECT_VERSION}")
