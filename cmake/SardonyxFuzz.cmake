# sdx_fuzz_target(name SOURCES file... DEPS target... [CORPUS folder])
#
# One row per target in tests/fuzz/CMakeLists.txt. The sources define LLVMFuzzerTestOneInput; tests/fuzz/corpus/<name>,
# or the given folder there, holds small inputs. With SARDONYX_FUZZ (clang only) sdx_fuzz_<name> is a libFuzzer program,
# built with the address and undefined behaviour sanitizers. In every other build it is a plain program and a ctest entry,
# which replays the corpus.

option(SARDONYX_FUZZ "Build the fuzz targets with libFuzzer and sanitizers; needs clang" OFF)

if(SARDONYX_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "SARDONYX_FUZZ needs clang, the compiler is ${CMAKE_CXX_COMPILER_ID}: "
                        "add -DCMAKE_CXX_COMPILER=clang++-19 in an empty build folder")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
                      -fno-omit-frame-pointer -gline-tables-only)
  add_link_options(-fsanitize=address,undefined)
endif()

function(sdx_fuzz_target name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "SOURCES;DEPS")
  if(NOT arg_CORPUS)
    set(arg_CORPUS ${name})
  endif()
  set(target sdx_fuzz_${name})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE ${arg_DEPS})
  if(SARDONYX_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cc)
    add_test(NAME ${target} COMMAND ${target} ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${arg_CORPUS})
    set_tests_properties(${target} PROPERTIES LABELS "fuzz" TIMEOUT 300)
  endif()
endfunction()
