# Loops over elements of every type, which are not worth a row for each instruction set, but vectors.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set_source_files_properties(
    ${folder}/elementwise/arithmetic.cc ${folder}/elementwise/compare.cc ${folder}/elementwise/convert.cc
    ${folder}/elementwise/fold.cc ${folder}/elementwise/logic.cc ${folder}/elementwise/where.cc
    PROPERTIES COMPILE_OPTIONS -fvect-cost-model=dynamic)
endif()
