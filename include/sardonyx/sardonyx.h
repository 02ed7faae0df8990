// The whole public C++ interface of Sardonyx.
#pragma once

#include "sardonyx/allocator.h"
#include "sardonyx/compile.h"
#include "sardonyx/element_type.h"
#include "sardonyx/error.h"
#include "sardonyx/options.h"
#include "sardonyx/session.h"
#include "sardonyx/value.h"
