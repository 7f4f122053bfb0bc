// slipstream-router: takes chat requests over HTTP and has verifiers and drafters answer them.
// This file constructs the parts, connects them and runs them.
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "common/base/endpoint.h"
#include "common/base/log.h"
#include "common/config/port_file.h"
#include "common/keys/keys.h"
#include "common/runtime/incarnation.h"
#include "common/service/service_main.h"
#include "common/zmq/zmq_transport.h"
#include "services/router/router_host.h"
#include "services/router/sampling_defaults.h"

namespace slipstream {
namespace {

// A body of some MB is read in five times its memory. By default glibc keeps such blocks in its
// heap once it has seen the first, and gives few of them back.
constexpr int kReturnedBytesLeast = 256 * 1024;

Served run(const RouterOptions& options, StopSignal& stop) {
  TRY(ModelFolder model, at_start(read_model_folder(options)));
  TRY(const Endpoint http, at_start(parse_endpoint(options.http)));
  TRY(ClientAccess access, at_start(open_client_access(options)));
  tell_client_access(options, access);
  TRY(const auto keys, at_start(open_keys(options.key, options.peers, "router")));
  const Incarnation self = model.config.incarnation = random_incarnation();
  TRY(const auto transport,
      ZmqTransport::open({.self = self, .bind = options.bind, .keys = keys, .admits = {"verifier", "drafter"}}));
  const std::string model_name = model.served.offer.name();
  log_info("requests that do not say how to sample: {}", words_of(model.served.offer.defaults));
  RouterHost host(std::move(model), *transport, std::move(access));
  TRY_VOID(host.listen(http));
  const std::string bound = transport->bound_endpoint();
  TRY_VOID(write_port_file(options.port_file, {{"http", host.address()}, {"bind", bound}}));
  log_info("id {:016x}, pid {}: serving {} at {}/, workers connect to {}", self, getpid(), model_name, host.url(), bound);
  host.run(stop.token(), std::chrono::milliseconds(options.drain_ms));
  return {};
}

}  // namespace
}  // namespace slipstream

int main(int argc, char** argv) {
  using namespace slipstream;
  ::mallopt(M_MMAP_THRESHOLD, kReturnedBytesLeast);
  return service_main("router", parse_router_options(argc, argv, client_access_problems), run);
}
