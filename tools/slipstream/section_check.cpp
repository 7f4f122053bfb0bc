#include "tools/slipstream/section_check.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "common/config/drafter_config.h"
#include "common/config/router_config.h"
#include "common/config/verifier_config.h"

namespace slipstream::command {
namespace {

constexpr const char* kAnyRouter = "tcp://127.0.0.1:1";  // for workers, which look at its form only

struct Section {
  std::string_view service;
  std::vector<std::string> given;  // by serve
  const std::vector<std::string>& own;
  std::vector<std::string> (*problems)(const std::vector<std::string>& arguments, bool form);
};

std::string_view flag_of(std::string_view setting) { return setting.substr(0, setting.find('=')); }

std::string place_of(const Section& section, std::string_view setting, const CommandLine& line) {
  const std::string_view name = setting.substr(std::min<size_t>(2, setting.size()));
  return line.place_of(section.service, flag_of(name));
}

std::string with_place(const Section& section, std::string_view setting, std::string_view sentence, const CommandLine& line) {
  return fmt::format("{}, [{}]: {}", place_of(section, setting, line), section.service, sentence);
}

std::vector<std::string> form_problems(const Section& section, const CommandLine& line) {
  std::vector<std::string> sentences;
  for (const std::string& setting : section.own) {
    for (const std::string& sentence : section.problems({setting}, true))
      sentences.push_back(with_place(section, setting, sentence, line));
  }
  return sentences;
}

// The flag that a sentence is about is in it.
std::string with_place_of_its_flag(const Section& section, std::string_view sentence, const CommandLine& line) {
  const auto named = [&](const std::string& setting) { return sentence.find(flag_of(setting)) != sentence.npos; };
  const auto setting = std::ranges::find_if(section.own, named);
  return with_place(section, setting == section.own.end() ? std::string_view() : *setting, sentence, line);
}

std::vector<std::string> problems_beside(const Section& section, const CommandLine& line) {
  std::vector<std::string> sentences;
  for (const std::string& setting : section.own) {
    const auto set = check_section(section.service, section.given, std::span(&setting, 1));
    if (!set) sentences.push_back(fmt::format("{}: {}", place_of(section, setting, line), set.error().message));
  }
  if (!sentences.empty()) return sentences;
  const std::vector<std::string> anyway = section.problems(section.given, false);
  std::vector<std::string> all = section.given;
  all.insert(all.end(), section.own.begin(), section.own.end());
  for (const std::string& sentence : section.problems(all, false)) {
    if (std::ranges::find(anyway, sentence) == anyway.end())
      sentences.push_back(with_place_of_its_flag(section, sentence, line));
  }
  return sentences;
}

Section section_of(std::string_view service, Command command, const std::vector<std::string>& own,
                   std::vector<std::string> (*problems)(const std::vector<std::string>&, bool)) {
  command.arguments.resize(command.arguments.size() - own.size());  // they come last
  return {service, std::move(command.arguments), own, problems};
}

}  // namespace

std::vector<std::string> section_problems(const FleetOptions& options, const CommandLine& line) {
  const FleetPlan plan = FleetPlan::on_paper(options);
  Ports router;
  router.bind = kAnyRouter;
  const Section sections[] = {section_of("router", plan.router({}), options.router_more, router_problems),
                              section_of("verifier", plan.verifier(router), options.verifier_more, verifier_problems),
                              section_of("drafter", plan.drafter(router), options.drafter_more, drafter_problems)};
  std::vector<std::string> sentences;
  for (const Section& section : sections) {
    if (section.own.empty()) continue;
    std::vector<std::string> found = form_problems(section, line);
    if (found.empty()) found = problems_beside(section, line);
    std::ranges::move(found, std::back_inserter(sentences));
  }
  return sentences;
}

}  // namespace slipstream::command
