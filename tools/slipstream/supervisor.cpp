#include "tools/slipstream/supervisor.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ranges>

#include "tools/slipstream/service_log.h"

namespace slipstream::command {
namespace {

constexpr std::chrono::milliseconds kLookAgain{500};  // poll interval, if the kernel gives no pidfd to wait on

double seconds(std::chrono::milliseconds pause) { return static_cast<double>(pause.count()) / 1000.0; }

// Returns the last line that the service wrote, if it ended by itself: a signal from outside has no
// message.
std::string why_ended(const Exit& exit, const std::filesystem::path& log, uintmax_t begin) {
  const bool speaks = exit.signal == 0 ? exit.status > 0 : exit.signal == SIGABRT;
  return speaks ? last_sentence(log, begin) : "";
}

}  // namespace

Supervisor::Supervisor(Say say)
    : say_(std::move(say)), nudge_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), thread_([this] { run(); }) {}

Supervisor::~Supervisor() {
  stop();
  close(nudge_);
}

Result<void> Supervisor::start(std::string name, Command command, Ready ready) {
  std::unique_lock lock(mutex_);
  if (stopping_) return fail("{} was not started: the others are being stopped", name);
  Service& service = services_.emplace_back();
  service.name = name;
  service.command = std::move(command);
  service.ready = std::move(ready);
  nudge();
  // Look the service up again: other start() calls may have moved the vector's elements.
  changed_.wait(lock, [&] { return stopping_ || find(name)->starts > 0 || find(name)->refused; });
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
  return {service->process ? service->process->pid() : -1, service->starts, service->last, service->why};
}

void Supervisor::signal(std::string_view name, int number) {
  std::lock_guard lock(mutex_);
  if (Service* service = find(name); service != nullptr && service->process) service->process->signal(number);
}

void Supervisor::retire(std::string_view name) {
  std::lock_guard lock(mutex_);
  Service* service = find(name);
  if (service == nullptr) return;
  service->retired = true;
  if (service->process) service->process->signal(SIGTERM);
}

bool Supervisor::await_end(std::string_view name, std::chrono::milliseconds at_most) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, at_most, [&] {
    const Service* service = find(name);
    return service == nullptr || !service->process;
  });
}

void Supervisor::stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    nudge();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Supervisor::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    // Callbacks (say_, ready) run without the mutex, since they may be slow or call back. What they
    // need is copied before.
    const std::vector<std::string> lines = tend();
    std::vector<pollfd> wanted{{nudge_, POLLIN, 0}};
    for (const Service& service : services_) {
      if (service.process) wanted.push_back({service.process->descriptor(), POLLIN, 0});
    }
    const std::vector<Returning> asked = returning();
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(next_look() - Clock::now());
    lock.unlock();
    for (const std::string& line : lines) say_(line);
    welcome(asked);
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
    for (const std::string& warning : service.warnings.fresh())
      lines.push_back(fmt::format("{} warns: {}", service.name, warning));
    if (service.process) {
      if (auto exit = service.process->ended()) {
        if (std::string line = on_exit(service, *exit); !line.empty()) lines.push_back(std::move(line));
        changed_.notify_all();
      }
    }
    // While restarts are off, only first starts happen.
    const bool held = service.retired || (!restarts_ && service.starts > 0);
    if (service.process || service.refused || held || Clock::now() < service.restart_at) continue;
    begin(service, lines);
    changed_.notify_all();
  }
  return lines;
}

void Supervisor::begin(Service& service, std::vector<std::string>& lines) {
  service.log_begin = log_size(service.command.log);
  auto process = Process::start(service.command);
  if (!process) {
    if (service.starts == 0) service.refused = process.error();
    // A first start that fails is reported to start(). A restart that fails (program replaced, too
    // many processes) is tried again.
    service.restart_at = Clock::now() + kRestartPauseMax;
    lines.push_back(
        fmt::format("{}: {}; tried again in {:.1f} s", service.name, process.error().message, seconds(kRestartPauseMax)));
    return;
  }
  service.process = *std::move(process);
  service.warnings = LogWarnings(service.command.log, service.log_begin);
  service.started = Clock::now();
  service.returning = ++service.starts > 1;
  service.late = false;
}

std::vector<Supervisor::Returning> Supervisor::returning() const {
  std::vector<Returning> all;
  for (const Service& service : services_) {
    if (service.process && service.returning) all.push_back({service.name, service.process->pid(), service.ready});
  }
  return all;
}

void Supervisor::welcome(const std::vector<Returning>& asked) {
  for (const Returning& life : asked) {
    const bool ready = !life.ready || life.ready(life.pid);
    std::string line;
    {
      std::lock_guard lock(mutex_);
      Service& service = *find(life.name);  // only this thread adds or removes processes
      if (ready) {
        service.returning = false;
        line = fmt::format("{} is back (pid {})", life.name, life.pid);
      } else if (!service.late && Clock::now() - service.started > kReadyLong) {
        service.late = true;
        line = fmt::format("{} (pid {}) runs for {} s and is not ready yet (log: {})", life.name, life.pid, kReadyLong.count(),
                           service.command.log.string());
      }
    }
    if (!line.empty()) say_(line);
  }
}

std::string Supervisor::on_exit(Service& service, Exit exit) {
  // The pause doubles from one short life to the next, and returns to the minimum after a long one.
  const bool long_life = Clock::now() - service.started >= kLongLife;
  service.pause = long_life || !service.last ? kRestartPauseMin : std::min(service.pause * 2, kRestartPauseMax);
  service.restart_at = Clock::now() + service.pause;
  service.last = exit;
  service.why = why_ended(exit, service.command.log, service.log_begin);
  note_in_log(service.command.log, fmt::format("the {} {}", service.name, exit.words()), service.command.json);
  service.process.reset();
  if (service.retired && exit.status == 0 && (exit.signal == 0 || exit.signal == SIGTERM)) return "";
  std::string line = fmt::format("{} {}", service.name, exit.words());
  if (!service.why.empty()) line += ": " + service.why;
  if (restarts_ && !service.retired) line += fmt::format("; it starts again in {:.1f} s", seconds(service.pause));
  return line + fmt::format(" (log: {})", service.command.log.string());
}

Supervisor::Clock::time_point Supervisor::next_look() const {
  auto next = Clock::now() + kLookAgain;
  for (const Service& service : services_) {
    if (!service.process && !service.refused && !service.retired) next = std::min(next, service.restart_at);
    if (service.process && service.returning) next = std::min(next, Clock::now() + kReadyLook);
  }
  return next;
}

// Stop in reverse order: workers before their router. All get SIGTERM first, then they share one
// grace period.
void Supervisor::end_all() {
  for (Service& service : services_ | std::views::reverse) {
    if (service.process) service.process->signal(SIGTERM);
  }
  const auto deadline = Clock::now() + kStopGrace;
  for (Service& service : services_) {
    if (!service.process) continue;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    service.process->wait(std::max(left, std::chrono::milliseconds(0)));
    service.process.reset();  // kills a process that still runs
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
