#include "tools/slipstream/supervisor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ranges>

namespace slipstream::command {
namespace {
constexpr std::chrono::milliseconds kLookAgain{500};  // where the kernel gives no pidfd to wait on
}

Supervisor::Supervisor(Say say)
    : say_(std::move(say)), nudge_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { run(); }) {}

Supervisor::~Supervisor() {
  stop();
  close(nudge_);
}

Result<void> Supervisor::start(std::string name, Command command) {
  std::unique_lock lock(mutex_);
  if (stopping_) return fail("{} was not started: the others are being stopped", name);
  Service& service = services_.emplace_back();
  service.name = name;
  service.command = std::move(command);
  nudge();
  started_.wait(lock, [&] { return stopping_ || find(name)->starts > 0 || find(name)->refused; });
  if (auto refused = find(name)->refused) {
    std::erase_if(services_, [&](const Service& service) { return service.name == name; });
    return std::unexpected(*refused);
  }
  return {};
}

void Supervisor::next_life(std::string_view name, Command command) {
  std::lock_guard lock(mutex_);
  if (Service* service = find(name)) service->command = std::move(command);
}

Supervisor::Life Supervisor::life(std::string_view name) const {
  std::lock_guard lock(mutex_);
  const Service* service = find(name);
  if (service == nullptr) return {};
  return {service->process ? service->process->pid() : -1, service->starts, service->last};
}

void Supervisor::signal(std::string_view name, int number) {
  std::lock_guard lock(mutex_);
  if (Service* service = find(name); service != nullptr && service->process) service->process->signal(number);
}

void Supervisor::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    nudge();
  }
  started_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Supervisor::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const std::vector<std::string> lines = tend();
    std::vector<pollfd> wanted{{nudge_, POLLIN, 0}};
    for (const Service& service : services_) {
      if (service.process) wanted.push_back({service.process->descriptor(), POLLIN, 0});
    }
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next_restart() - Clock::now());
    lock.unlock();
    for (const std::string& line : lines) say_(line);
    poll(wanted.data(), wanted.size(), std::clamp<int>(static_cast<int>(wait.count()), 0, kLookAgain.count()));
    uint64_t nudges = 0;
    (void)!read(nudge_, &nudges, sizeof nudges);
    lock.lock();
  }
  end_all();
}

std::vector<std::string> Supervisor::tend() {
  std::vector<std::string> lines;
  for (Service& service : services_) {
    if (service.process) {
      if (auto exit = service.process->ended()) lines.push_back(bury(service, *exit));
    }
    const bool held = !restarts_ && service.starts > 0;
    if (service.process || service.refused || held || Clock::now() < service.restart_at) continue;
    auto process = Process::start(service.command);
    if (!process) {
      if (service.starts == 0) service.refused = process.error();
      service.restart_at = Clock::now() + kRestartPauseMax;
      lines.push_back(process.error().message);
    } else {
      service.process = *std::move(process);
      service.started = Clock::now();
      if (++service.starts > 1) lines.push_back(fmt::format("{} is back (pid {})", service.name, service.process->pid()));
    }
    started_.notify_all();
  }
  return lines;
}

std::string Supervisor::bury(Service& service, Exit exit) {
  const bool long_life = Clock::now() - service.started >= kLongLife;
  service.pause = long_life || !service.last ? kRestartPauseMin : std::min(service.pause * 2, kRestartPauseMax);
  service.restart_at = Clock::now() + service.pause;
  service.last = exit;
  service.process.reset();
  if (!restarts_) return fmt::format("{} {} (log: {})", service.name, exit.words(), service.command.log.string());
  return fmt::format("{} {}; it starts again in {:.1f} s (log: {})", service.name, exit.words(),
                     static_cast<double>(service.pause.count()) / 1000.0, service.command.log.string());
}

Supervisor::Clock::time_point Supervisor::next_restart() const {
  auto next = Clock::now() + kLookAgain;
  for (const Service& service : services_) {
    if (!service.process && !service.refused) next = std::min(next, service.restart_at);
  }
  return next;
}

void Supervisor::end_all() {
  for (Service& service : services_ | std::views::reverse) {
    if (service.process) service.process->signal(SIGTERM);
  }
  const auto deadline = Clock::now() + kStopGrace;
  for (Service& service : services_) {
    if (!service.process) continue;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    service.process->wait(std::max(left, std::chrono::milliseconds(0)));
    service.process.reset();  // kills what is still there
  }
}

void Supervisor::nudge() {
  const uint64_t one = 1;
  (void)!write(nudge_, &one, sizeof one);
}

Supervisor::Service* Supervisor::find(std::string_view name) {
  const auto found = std::ranges::find(services_, name, &Service::name);
  return found == services_.end() ? nullptr : &*found;
}

}  // namespace slipstream::command
