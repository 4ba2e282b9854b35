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

# In trees with tests, where all is compiled at once, what files of a library include is compiled
# fewer times. Elsewhere each file shows that it includes what it needs.
#   iceblink_join(TARGET FILE...): ten files at once, but for those that share names with others
#   iceblink_precompile(TARGET HEADER...): file by file, optimised as what is installed; under a
#   sanitizer joined
function(iceblink_join target)
  if(ICEBLINK_TESTS AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()
function(iceblink_precompile target)
  if(ICEBLINK_SANITIZE)
    iceblink_join(${target})
  elseif(ICEBLINK_TESTS AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_precompile_headers(${target} PRIVATE ${ARGN})
    # Of g++ 12, where such a header is used, these are false.
    target_compile_options(${target} PRIVATE
      -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  endif()
endfunction()
