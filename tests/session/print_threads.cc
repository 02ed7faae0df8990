// Prints how many threads a session uses by default, after a Run; argument: seconds to go on
// running.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "tests/session/test_models.h"

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  using namespace sardonyx;
  const Session session(two_layers());
  const Value x = wave({256, 256});
  const std::chrono::duration<double> wanted(argc > 1 ? std::atof(argv[1]) : 0);
  const auto start = Clock::now();
  do {
    session.run({{"x", x}});
  } while (Clock::now() - start < wanted);
  std::printf("%d\n", session.threads());
  return 0;
}
