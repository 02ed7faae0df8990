target_compile_definitions(sdx_session PRIVATE SARDONYX_VERSION="${PROJECT_VERSION}")
