# Language level and compiler flags shared by every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
# Debug information and variable tracking are what make sanitized builds of SIMD files take minutes.
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -fno-omit-frame-pointer")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  string(APPEND CMAKE_CXX_FLAGS_SANITIZE " -fno-var-tracking-assignments")
endif()

# Contraction would make results depend on the ISA row: fused multiply-adds are written where they are meant.
add_compile_options(-ffp-contract=off -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees SmallVector and std::string use memory before it is set where they do not.
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized)
endif()
if(SARDONYX_WERROR)
  add_compile_options(-Werror)
endif()

if(SARDONYX_SANITIZE STREQUAL "address")
  set(sanitize_flags -fsanitize=address,undefined -fno-sanitize-recover=all)
elseif(SARDONYX_SANITIZE STREQUAL "thread")
  set(sanitize_flags -fsanitize=thread)
elseif(NOT SARDONYX_SANITIZE STREQUAL "")
  message(FATAL_ERROR "SARDONYX_SANITIZE must be empty, address or thread, not '${SARDONYX_SANITIZE}'")
endif()
if(sanitize_flags)
  add_compile_options(${sanitize_flags})
  add_link_options(${sanitize_flags})
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths are made relative, so that clones in other folders share results; debug builds record their folder.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_MAXSIZE=3G ${CCACHE_PROGRAM})
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    list(INSERT CMAKE_CXX_COMPILER_LAUNCHER 1 CCACHE_NOHASHDIR=1)
  endif()
endif()

# SIMD rows. Highway 1.0.3 can generate more targets than the project has rows; the others are switched off here.
# Row names: sse4, avx2, avx512 (x86-64) and neon (aarch64).
set(disabled_targets HWY_SSSE3 HWY_SVE HWY_SVE2 HWY_SVE_256 HWY_SVE2_128 HWY_PPC8 HWY_RVV)
if(SARDONYX_FUZZ)
  # Only the scalar row: the shortest build, and the one that the fuzzer sees through best.
  list(APPEND disabled_targets HWY_SSE4 HWY_AVX2 HWY_AVX3)
elseif(SARDONYX_NATIVE_ONLY AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  file(READ /proc/cpuinfo cpuinfo LIMIT 8192)
  if(cpuinfo MATCHES " avx512f " AND cpuinfo MATCHES " avx512vl " AND cpuinfo MATCHES " avx512dq ")
    list(APPEND disabled_targets HWY_SSE4 HWY_AVX2)
  elseif(cpuinfo MATCHES " avx2 " AND cpuinfo MATCHES " fma ")
    list(APPEND disabled_targets HWY_SSE4 HWY_AVX3)
  else()
    list(APPEND disabled_targets HWY_AVX2 HWY_AVX3)
  endif()
endif()
list(JOIN disabled_targets "|" disabled_targets)
add_compile_definitions("HWY_DISABLED_TARGETS=(${disabled_targets})")
