#include "tools/slipstream/doctor/doctor.h"

#include <sys/resource.h>

#include <cstdio>
#include <optional>
#include <utility>

#include "common/base/device_name.h"
#include "common/config/cpu_quota.h"
#include "common/config/memory_limit.h"
#include "tools/slipstream/doctor/finding.h"
#include "tools/slipstream/doctor/machine.h"
#include "tools/slipstream/doctor/model.h"
#include "tools/slipstream/doctor/server.h"
#include "tools/slipstream/doctor/services.h"
#include "tools/slipstream/fleet_ports.h"
#include "tools/slipstream/top/lookout.h"

namespace slipstream::command::doctor {
namespace {

class Doctor {
 public:
  explicit Doctor(const DoctorOptions& options)
      : options_(options), fleet_(options.fleet), palette_(Palette::of_terminal(options.plain)) {}

  bool run() {
    const auto model = check_model(fleet_.model, findings_);
    show();
    unused();
    if (model) {
      fleet_.model = model->path;
      check_drafting_files(fleet_, *model, findings_);
    }
    machine(model);
    server();
    answers(model);
    services(model.has_value());
    fmt::print("\n{}\n", summary(findings_));
    return !any_fails(findings_);
  }

 private:
  // On a device other than the cpu only a load tells whether a model can be computed: a library may
  // be missing, or a GPU's memory. Beside a server that runs it would take the memory twice.
  void loads(const FleetPlan& plan) {
    if (device_ == DeviceKind::cpu || looked_at_ours() || !fits_ || any_fails(findings_)) return;
    show();
    check_loads(plan, findings_);
  }

  void show() {
    for (; shown_ < findings_.size(); ++shown_) fmt::print("{}", text_of(findings_[shown_], palette_));
    std::fflush(stdout);
  }

  // What has no use is left out from here on, so that no other check says it again.
  void unused() {
    for (std::string& sentence : unused_drafting_flags(fleet_)) findings_.push_back(failed("drafting", std::move(sentence)));
    if (network_of(fleet_.drafter) != DraftNetwork::model) fleet_.draft_model.clear();
    if (looks_up(fleet_)) return;
    fleet_.corpora.clear();
    fleet_.look_up_file.clear();
  }

  void machine(const std::optional<ModelFacts>& model) {
    if (device_ == DeviceKind::cpu) findings_.push_back(check_cpu(this_cpu()));
    if (model) findings_.push_back(check_cache(fleet_, *model));
    if (model && device_ != DeviceKind::cuda) {
      findings_.push_back(check_memory(memory_need(fleet_, *model), fewer_bits(fleet_), machine_memory("/")));
      fits_ = findings_.back().level == Level::ok;
    }
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    findings_.push_back(check_open_files(files.rlim_cur, files.rlim_max));
    show();
  }

  void server() {
    if (options_.url.empty()) return;
    const auto url = ServerUrl::parse(options_.url);
    auto lookout = url ? top::Lookout::open(*url, options_.ca_file, options_.api_key) : std::unexpected(url.error());
    if (!lookout) {
      findings_.push_back(failed("server", lookout.error().message));
    } else {
      const top::FleetLook look = lookout->look();
      check_server(look, findings_);
      server_port_ = look.trouble.empty() && is_this_machine(url->host) ? url->port : 0;
    }
    show();
  }

  bool looked_at_ours() const { return server_port_ != 0 && server_port_ == fleet_.port; }

  // The service which the file is given to would say again what is wrong with it.
  void answers(const std::optional<ModelFacts>& model) {
    if (!model || fleet_.look_up_file.empty()) return;
    findings_.push_back(check_answers(fleet_, *model, looked_at_ours()));
    if (findings_.back().level == Level::fail || looked_at_ours()) fleet_.look_up_file.clear();
    show();
  }

  // Without a model each service would say only that it is not there.
  void services(bool model) {
    const auto plan = FleetPlan::make(fleet_);
    if (!plan) {
      findings_.push_back(failed("programs", plan.error().message));
    } else {
      findings_.push_back(check_cores(cpu_quota(), fleet_.cpus, plan->cpus()));
      if (model) check_settings(*plan, findings_);
    }
    findings_.push_back(check_ports_free(fleet_, looked_at_ours()));
    if (!fleet_.keys.empty()) check_keys(fleet_, findings_);
    if (model && plan) loads(*plan);
    show();
  }

  const DoctorOptions& options_;
  FleetOptions fleet_;
  const DeviceKind device_ = device_name(fleet_.device).value_or(DeviceName{}).kind;
  bool fits_ = true;  // into the machine's memory, as far as is known
  Palette palette_;
  Findings findings_;
  size_t shown_ = 0;
  uint16_t server_port_ = 0;  // of the running server; 0: none answered, or it is another machine's
};

}  // namespace

bool examine(const DoctorOptions& options) { return Doctor(options).run(); }

}  // namespace slipstream::command::doctor
