# Third-party packages. The libraries use only headers of them; no archive or shared object is linked.

function(sdx_require_header variable header package)
  find_path(${variable} ${header})
  if(NOT ${variable})
    message(FATAL_ERROR "Header <${header}> not found: install ${package} (tools/install_packages.sh does)")
  endif()
endfunction()

sdx_require_header(SDX_HIGHWAY_INCLUDE hwy/highway.h libhwy-dev)
sdx_require_header(SDX_FMT_INCLUDE fmt/format.h libfmt-dev)
sdx_require_header(SDX_XXHASH_INCLUDE xxhash.h libxxhash-dev)
sdx_require_header(SDX_JSON_INCLUDE nlohmann/json.hpp nlohmann-json3-dev)
sdx_require_header(SDX_CLI11_INCLUDE CLI/CLI.hpp libcli11-dev)

add_compile_definitions(XXH_INLINE_ALL)

add_library(sdx_fmt STATIC ${PROJECT_SOURCE_DIR}/third_party/fmt.cc)

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
if(SARDONYX_TESTS)
  if(CMAKE_CROSSCOMPILING)
    # Debian has no cross build of GoogleTest, but its sources.
    set(INSTALL_GTEST OFF)
    set(BUILD_GMOCK OFF)
    add_subdirectory(/usr/src/googletest ${PROJECT_BINARY_DIR}/googletest EXCLUDE_FROM_ALL)
  else()
    find_package(GTest REQUIRED)
    find_package(benchmark REQUIRED)
  endif()
endif()
