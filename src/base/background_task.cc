#include "base/background_task.h"

#include <sys/resource.h>
#include <unistd.h>

#include <thread>

namespace sardonyx {
namespace {

constexpr int kLowestPriority = 19;

}  // namespace

BackgroundTask::BackgroundTask(Work work)
    : work_(std::make_shared<const Work>(std::move(work))),
      control_(std::make_shared<Control>()),
      fork_handler_([this] { control_->mutex_.lock(); },
                    [this](bool in_child) {
                      if (in_child) started_.store(false);
                      control_->mutex_.unlock();
                    }) {}

BackgroundTask::~BackgroundTask() {
  const std::lock_guard<std::mutex> lock(control_->mutex_);
  control_->cancelled_.store(true);
}

void BackgroundTask::start_thread() {
  if (started_.exchange(true)) return;
  try {
    std::thread([work = work_, control = control_] {
      // Of this thread alone, on Linux. When it is refused the work is only less polite.
      (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kLowestPriority);
      (*work)(*control);
    }).detach();
  } catch (const std::exception&) {
    // The system has no thread for it; not tried again.
  }
}

}  // namespace sardonyx
