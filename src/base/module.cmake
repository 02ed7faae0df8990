# Where the loader of libsardonyx_extras.so looks from the folder of an installed command.
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/extras.cc PROPERTIES
  COMPILE_DEFINITIONS SARDONYX_LIBDIR="${CMAKE_INSTALL_LIBDIR}")
