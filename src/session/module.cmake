target_compile_definitions(sdx_session PRIVATE SARDONYX_VERSION="${PROJECT_VERSION}")
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}" build_flags)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/session/build_info.cc PROPERTIES
  COMPILE_DEFINITIONS "SARDONYX_BUILD_FLAGS=\"${CMAKE_BUILD_TYPE}: ${build_flags}\"")
