// Prints every operator of the runtime as JSON (src/ops/dump.h), for schemas.py.
#include <cstdio>

#include "ops/dump.h"

int main() {
  std::fputs(sardonyx::dump_operators_json().c_str(), stdout);
  return 0;
}
