// SARDONYX_API marks what the shared library exports.
#pragma once

#define SARDONYX_API __attribute__((visibility("default")))
