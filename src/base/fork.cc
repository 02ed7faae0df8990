#include "base/fork.h"

#include <pthread.h>

#include <list>

namespace sardonyx {

struct ForkRegistry {
  std::mutex mutex;
  std::list<ForkHandler*> handlers;

  // Never destroyed: sessions may live until the process ends.
  static ForkRegistry& instance() {
    static ForkRegistry& registry = *make();
    return registry;
  }

 private:
  static ForkRegistry* make() {
    pthread_atfork([] { instance().before(); }, [] { instance().after(false); },
                   [] { instance().after(true); });
    return new ForkRegistry;
  }
  void before() {
    mutex.lock();
    for (ForkHandler* handler : handlers) handler->before_fork_();
  }
  void after(bool in_child) {
    for (ForkHandler* handler : handlers) handler->after_fork_(in_child);
    mutex.unlock();
  }
};

ForkHandler::ForkHandler(std::function<void()> before_fork, std::function<void(bool)> after_fork)
    : before_fork_(std::move(before_fork)), after_fork_(std::move(after_fork)) {
  ForkRegistry& registry = ForkRegistry::instance();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  registry.handlers.push_back(this);
}

ForkHandler::~ForkHandler() {
  ForkRegistry& registry = ForkRegistry::instance();
  const std::lock_guard<std::mutex> lock(registry.mutex);
  registry.handlers.remove(this);
}

}  // namespace sardonyx
