#include "tools/slipstream/top/top.h"

#include <chrono>
#include <deque>
#include <thread>

#include <fmt/format.h>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "common/config/subcommands.h"
#include "tools/slipstream/terminal.h"
#include "tools/slipstream/top/full_screen.h"
#include "tools/slipstream/top/lookout.h"
#include "tools/slipstream/top/render.h"
#include "tools/slipstream/tty.h"

namespace slipstream::command::top {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kEveryMinS = 0.1, kEveryMaxS = 3600;
constexpr double kWindowS = 10;  // rates are of so long; a longer pause between two looks makes it longer

Clock::duration seconds(double count) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count));
}

std::chrono::milliseconds until(Clock::time_point then) {
  return std::chrono::ceil<std::chrono::milliseconds>(then - Clock::now());
}

// The looks of the last kWindowS, and at least two.
class Window {
 public:
  // Rates do not reach over a time in which the router did not answer.
  void add(FleetLook look) {
    if (!looks_.empty() && looks_.back().trouble.empty() != look.trouble.empty()) looks_.clear();
    looks_.push_back(std::move(look));
    while (looks_.size() > 2 && looks_.back().at_s - looks_[1].at_s >= kWindowS) looks_.pop_front();
  }
  Screen screen() const { return make_screen(looks_.size() > 1 ? &looks_.front() : nullptr, looks_.back()); }

 private:
  std::deque<FleetLook> looks_;
};

Result<void> print_once(Lookout& lookout, const TopOptions& options, bool colours) {
  Window window;
  window.add(lookout.look());
  std::this_thread::sleep_for(seconds(options.every_s));  // rates need two looks with time between them
  FleetLook look = lookout.look();
  if (!look.trouble.empty()) return fail("{}; `slipstream serve` starts a fleet, and --url names another", look.trouble);
  window.add(std::move(look));
  for (const std::string& row : render(window.screen(), {.colours = colours})) fmt::print("{}\n", row);
  return {};
}

void watch(Lookout& lookout, const TopOptions& options, bool colours) {
  FullScreen screen;
  Window window;
  auto event = FullScreen::Event::time;
  for (auto next = Clock::now(); event != FullScreen::Event::quit; event = screen.wait(until(next))) {
    if (Clock::now() >= next) {
      window.add(lookout.look());
      next = Clock::now() + seconds(options.every_s);
    }
    const TerminalSize size = terminal_size();
    screen.draw(render(window.screen(), {size.columns, size.rows, colours, true}));
  }
}

}  // namespace

CLI::App* top_flags(CLI::App& app, TopOptions& options) {
  CLI::App* top = app.add_subcommand("top", "Watch a running fleet: requests, tokens, latencies, workers, drafts");
  top->add_option("--url", options.url, "The router")->envname("SLIPSTREAM_URL")->capture_default_str();
  top->add_option("--cacert", options.ca_file, "https: PEM file of the authorities that are trusted; none: the system's");
  top->add_option("--api-key", options.api_key, "Sent with each look")->envname("SLIPSTREAM_API_KEY");
  top->add_option("--every", options.every_s, "Seconds between two looks")
      ->check(number_between(kEveryMinS, kEveryMaxS))
      ->capture_default_str();
  top->add_flag("--once", options.once, "Print one snapshot and end");
  top->add_flag("--plain", options.plain, "No colours");
  return top;
}

Result<void> run_top(const TopOptions& options) {
  TRY(const ServerUrl url, ServerUrl::parse(options.url));
  TRY(Lookout lookout, Lookout::open(url, options.ca_file, options.api_key));
  const bool colours = Palette::of_terminal(options.plain).colours();
  if (options.once || !is_interactive()) return print_once(lookout, options, colours);
  watch(lookout, options, colours);
  return {};
}

}  // namespace slipstream::command::top
