// Highway is used header-only, but its assertions call hwy::Abort, which lives in its library.
// Optimised builds drop every such call; builds without optimisation keep them and need this
// definition.
#include <hwy/base.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace hwy {

HWY_NORETURN void HWY_FORMAT(3, 4) Abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
  std::abort();
}

}  // namespace hwy
