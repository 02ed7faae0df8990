# sdx_module(name DEPS module...)
#
# Makes the static library sdx_<name> from every src/<name>/**/*.cc. By file name:
#   *_test.cc       one executable sdx_<name>_test, one ctest entry of the same name
#   *_slow_test.cc  one executable each, labelled "full": left to `make test-full`
#   *_bench.cc      one executable sdx_<name>_bench (Google Benchmark)
# A folder without sources becomes an INTERFACE library, so that the tree configures while modules are missing.
# A module with special needs adds src/<name>/module.cmake, which is included last and sees the targets above.

function(sdx_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPS")
  set(folder ${PROJECT_SOURCE_DIR}/src/${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cc)
  set(slow_tests ${sources})
  list(FILTER slow_tests INCLUDE REGEX "_slow_test\\.cc$")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER tests EXCLUDE REGEX "_slow_test\\.cc$")
  set(benches ${sources})
  list(FILTER benches INCLUDE REGEX "_bench\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|bench)\\.cc$")

  list(TRANSFORM arg_DEPS PREPEND sdx_ OUTPUT_VARIABLE deps)
  if(sources)
    add_library(sdx_${name} STATIC ${sources})
    set(scope PUBLIC)
  else()
    add_library(sdx_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(sdx_${name} ${scope} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(sdx_${name} ${scope} ${deps} sdx_fmt Threads::Threads ${CMAKE_DL_LIBS})

  if(SARDONYX_TESTS)
    if(tests)
      sdx_test(sdx_${name}_test SOURCES ${tests} DEPS sdx_${name})
    endif()
    foreach(test IN LISTS slow_tests)
      get_filename_component(stem ${test} NAME_WE)
      sdx_test(sdx_${name}_${stem} SOURCES ${test} DEPS sdx_${name} LABELS full)
    endforeach()
    if(benches AND NOT CMAKE_CROSSCOMPILING)
      add_executable(sdx_${name}_bench ${benches})
      target_link_libraries(sdx_${name}_bench PRIVATE sdx_${name} benchmark::benchmark_main)
      set_property(GLOBAL APPEND PROPERTY SDX_BENCHES sdx_${name}_bench)
    endif()
  endif()
  include(${folder}/module.cmake OPTIONAL)
endfunction()

# sdx_test(name SOURCES file... DEPS target... [LABELS label...])
# One GoogleTest executable and one ctest entry. Tests run from the top of the source tree.
function(sdx_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;DEPS;LABELS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(SARDONYX_SANITIZE STREQUAL "thread")
    # Children of fork() start threads of their own.
    set_tests_properties(${name} PROPERTIES ENVIRONMENT TSAN_OPTIONS=die_after_fork=0)
  endif()
  if(arg_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
  endif()
endfunction()

# sdx_python_test(name SCRIPT file [ARGS arg...] [LABELS label...])
# Runs a script with the Python of build/venv (tools/setup_venv.sh makes it); exit status 0 means passed. Not in cross
# builds, whose programs the scripts could not start.
function(sdx_python_test name)
  if(CMAKE_CROSSCOMPILING)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SCRIPT" "ARGS;LABELS")
  add_test(NAME ${name}
    COMMAND ${PROJECT_SOURCE_DIR}/build/venv/bin/python ${arg_SCRIPT} ${arg_ARGS}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  if(arg_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
  endif()
endfunction()
