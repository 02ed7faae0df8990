target_compile_definitions(sdx_session PRIVATE SARDONYX_VERSION="${PROJECT_VERSION}" SDX_NO_IR_VALUE_ALIAS)
