# cmake -D BUILD_DIR=… -D SOURCE_DIR=… -D WORK_DIR=… -D CXX=… -P consume.cmake
# Installs the build under a prefix of its own, then configures, builds and runs the project here
# against it, and asks pkg-config.
file(REMOVE_RECURSE ${WORK_DIR})
set(prefix ${WORK_DIR}/prefix)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -D CMAKE_PREFIX_PATH=${prefix}
    -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
run(${WORK_DIR}/build/outside)
foreach(program iceblink iceblinkd)
  run(${prefix}/bin/${program} --version)
endforeach()

file(GLOB_RECURSE headers RELATIVE ${prefix}/include ${prefix}/include/*)
foreach(header IN LISTS headers)
  if(NOT header MATCHES "^iceblink/(metadata/)?[a-z_]+\\.h$")
    message(FATAL_ERROR "a header that is not public was installed: ${header}")
  endif()
endforeach()

file(GLOB_RECURSE pc ${prefix}/*/iceblink.pc)
get_filename_component(pc_dir ${pc} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${pc_dir})
run(pkg-config --exists --print-errors iceblink)
execute_process(COMMAND pkg-config --cflags --libs iceblink OUTPUT_VARIABLE flags
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
if(NOT SANITIZED)  # pkg-config does not know of a sanitizer's library
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${CXX} -std=c++20 ${SOURCE_DIR}/outside.cc -o ${WORK_DIR}/by_pkg_config ${flags})
  run(${WORK_DIR}/by_pkg_config)
endif()
