# Installed: libsardonyx.so, its headers, the command, a CMake package (sardonyx::sardonyx) and a pkg-config file.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/sardonyx DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET sardonyx_cli)
  install(TARGETS sardonyx_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET sardonyx)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sardonyx)
  install(TARGETS sardonyx EXPORT sardonyx_targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT sardonyx_targets NAMESPACE sardonyx:: FILE sardonyx-targets.cmake DESTINATION ${package_dir})
  configure_package_config_file(cmake/sardonyx-config.cmake.in ${PROJECT_BINARY_DIR}/sardonyx-config.cmake
    INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/sardonyx-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/sardonyx-config.cmake ${PROJECT_BINARY_DIR}/sardonyx-config-version.cmake
    DESTINATION ${package_dir})
  file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  configure_file(cmake/sardonyx.pc.in ${PROJECT_BINARY_DIR}/sardonyx.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/sardonyx.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
