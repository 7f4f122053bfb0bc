#include "common/zmq/zap_authenticator.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/ranges.h>

#include "common/base/check.h"
#include "common/base/log.h"
#include "common/keys/key_file.h"

namespace slipstream {
namespace {

constexpr const char* kZapEndpoint = "inproc://zeromq.zap.01";  // fixed by the RFC
constexpr std::chrono::seconds kBetweenLooks{1};                // between two reads of the folder of keys
constexpr size_t kKeyBytes = 32;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

// The key as text, as .pub files hold it; "" if it is not a key.
std::string z85(zmq::Message& key) {
  char text[kKeyBytes * 5 / 4 + 1] = {};
  if (key.bytes().size() != kKeyBytes) return {};
  zmq_z85_encode(text, static_cast<const uint8_t*>(static_cast<const void*>(key.bytes().data())), kKeyBytes);
  return text;
}

}  // namespace

ZapAuthenticator::ZapAuthenticator(const zmq::Context& context, Enrolled enrolled, std::vector<std::string> roles)
    : enrolled_(std::move(enrolled)), roles_(std::move(roles)), socket_(context, ZMQ_REP) {
  socket_.set(ZMQ_LINGER, 0);
  const auto bound = socket_.bind(kZapEndpoint);
  CHECK(bound, "nobody can be asked who may connect: {}", bound.error().message);
}

void ZapAuthenticator::answer() {
  for (zmq::Message version; socket_.receive(version);) answer_one(version);
}

// A request's frames: version, request id, domain, address, routing id, mechanism, public key.
// A reply's frames: version, request id, status code, status text, user id, metadata.
//
// The folder of keys is read again before each decision, so that a key enrolled a moment ago is
// admitted. The public key becomes the user id: it identifies the connection's owner later on.
void ZapAuthenticator::answer_one(zmq::Message& version) {
  constexpr size_t kId = 0, kAddress = 2, kMechanism = 4, kKey = 5, kFrames = 6;
  std::array<zmq::Message, kFrames> frames;
  bool more = version.more();
  for (size_t n = 0; n < kFrames && more; ++n) more = socket_.receive(frames[n]) && frames[n].more();
  const std::string key = frames[kMechanism].text() == "CURVE" ? z85(frames[kKey]) : "";
  look_again();
  const std::string* name = who(key);
  if (name == nullptr) {
    if (gate_.open()) {
      const std::string* known = enrolled_.name_of(key);
      log_warning("refused a connection from {}: {}{}", frames[kAddress].text(),
                  known != nullptr
                      ? fmt::format("{} is enrolled, but only a {} may connect here", *known, fmt::join(roles_, " or a "))
                      : fmt::format("its key is not enrolled; if it belongs here, put its .pub file into {} (public {})",
                                    enrolled_.folder().string(), key),
                  gate_.unsaid());
    }
  }
  const auto empty = bytes_of("");
  socket_.send({bytes_of("1.0"), frames[kId].bytes(), bytes_of(name ? "200" : "400"), bytes_of(name ? "" : "not enrolled here"),
                name ? bytes_of(key) : empty, empty});
}

// If the folder cannot be read, the keys known before stay in force: a mistake in the folder must
// not lock out the whole system.
bool ZapAuthenticator::look_again() {
  const auto now = std::chrono::steady_clock::now();
  if (now - looked_at_ < kBetweenLooks) return false;
  looked_at_ = now;
  std::vector<std::string> faults;
  auto fresh = Enrolled::read(enrolled_.folder(), &faults);
  if (!fresh) {
    if (gate_.open()) log_warning("going on with the keys known before: {}{}", fresh.error().message, gate_.unsaid());
    return false;
  }
  if (!faults.empty() && gate_.open()) log_warning("left out of the enrolled keys: {}{}", faults.front(), gate_.unsaid());
  if (*fresh == enrolled_) return false;
  enrolled_ = *std::move(fresh);
  return true;
}

const std::string* ZapAuthenticator::who(const std::string& public_key) const {
  const std::string* name = enrolled_.name_of(public_key);
  if (name == nullptr) return nullptr;
  return std::ranges::any_of(roles_, [&](const std::string& role) { return key_is_of(*name, role); }) ? name : nullptr;
}

}  // namespace slipstream
