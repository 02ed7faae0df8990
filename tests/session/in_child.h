// The exit status of work in a child process.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <exception>

namespace sardonyx {

// Forks, and returns what `body` returns in the child, which ends without running the parent's exit
// handlers: 99 when it throws, minus the signal that ended it; SIGALRM after `seconds_to_hang`.
template <typename Body>
int in_child(Body body, unsigned seconds_to_hang = 60) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(seconds_to_hang);
    int status = 99;
    try {
      status = body();
    } catch (const std::exception& error) {
      (void)!write(2, error.what(), std::strlen(error.what()));
    }
    _exit(status);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace sardonyx
