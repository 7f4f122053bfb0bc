// ZmqTransport with keys: who is let in, who is not, and what is said about it.
#include <unistd.h>

#include <charconv>
#include <thread>

#include <gtest/gtest.h>

#include "common/zmq/zmq_transport.h"
#include "tests/zmtp/zmtp_peer.h"

namespace slipstream {
namespace {

using namespace std::chrono_literals;

constexpr Peer kServer{1};
constexpr Incarnation kServerLife = 1001, kClientLife = 77;
constexpr auto kLong = 20s;

class KeyedTransport : public testing::Test {
 protected:
  KeyedTransport() {
    for (const char* name : {"router", "verifier", "drafter"}) EXPECT_TRUE(write_key_files(folder_, name, make_key_pair()));
  }
  ~KeyedTransport() override { std::filesystem::remove_all(folder_); }

  Keys keys(const std::string& name) const {
    return {name, *read_key_file(folder_ / (name + ".key")), *Enrolled::read(folder_ / "peers")};
  }
  std::unique_ptr<ZmqTransport> server(const std::string& bind = "tcp://127.0.0.1:0") const {
    return *ZmqTransport::open({.self = kServerLife, .bind = bind, .keys = keys("router"), .admits = {"drafter"}});
  }
  static std::unique_ptr<ZmqTransport> client(std::optional<Keys> keys) {
    return *ZmqTransport::open({.self = kClientLife, .bind = {}, .keys = std::move(keys)});
  }

  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("slipstream-keyed-" + std::to_string(getpid()));
};

Frame frame(char c) { return {Boundary::draft, {std::byte(c)}}; }

// Both are looked at in turn until one has an event of this kind.
template <class E>
std::optional<E> until(Transport& wanted, Transport& other) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (std::chrono::steady_clock::now() < end) {
    const auto event = wanted.next(5ms);
    other.next(5ms);
    if (event && std::holds_alternative<E>(*event)) return std::get<E>(*event);
  }
  return std::nullopt;
}
void until(Transport& one, Transport& other, const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kLong;
  while (!condition() && std::chrono::steady_clock::now() < end) {
    one.next(5ms);
    other.next(5ms);
  }
  EXPECT_TRUE(condition());
}

uint64_t refused(const Transport& transport) {  // for what is no key, or another one: one side tells, the other hangs up
  return transport.counters().refused_protocol + transport.counters().refused_unfinished;
}

TEST_F(KeyedTransport, CarriesFramesBetweenThoseWhoAreEnrolledAndTellsTheirNames) {
  auto router = server();
  auto drafter = client(keys("drafter"));
  drafter->connect(kServer, router->bound_endpoint() + "#router");
  ASSERT_TRUE(until<PeerUp>(*drafter, *router));
  drafter->send(kServer, frame('a'));
  const auto up = until<PeerUp>(*router, *drafter);
  ASSERT_TRUE(up);
  EXPECT_EQ(up->key, "drafter");
  EXPECT_EQ(up->peer, incoming_peer(kClientLife));
  router->send(up->peer, frame('b'));
  EXPECT_TRUE(until<FrameFrom>(*drafter, *router));
}

TEST_F(KeyedTransport, RefusesAKeyOfAnotherRole) {
  auto router = server();
  auto verifier = client(keys("verifier"));
  verifier->connect(kServer, router->bound_endpoint() + "#router");
  until(*verifier, *router, [&] { return router->counters().refused_keys > 0 && verifier->counters().refused_keys > 0; });
}

TEST_F(KeyedTransport, TakesAKeyThatIsEnrolledLaterWithoutARestart) {
  Keys mine = keys("drafter");
  const auto pub = folder_ / "peers/drafter.pub";
  std::filesystem::rename(pub, folder_ / "away");
  auto router = server();
  auto drafter = client(mine);
  drafter->connect(kServer, router->bound_endpoint() + "#router");
  until(*drafter, *router, [&] { return router->counters().refused_keys > 0; });
  std::filesystem::rename(folder_ / "away", pub);
  EXPECT_TRUE(until<PeerUp>(*drafter, *router));
}

TEST_F(KeyedTransport, CutsAKeyThatIsTakenAway) {
  auto router = server();
  auto drafter = client(keys("drafter"));
  drafter->connect(kServer, router->bound_endpoint() + "#router");
  ASSERT_TRUE(until<PeerUp>(*drafter, *router));
  drafter->send(kServer, frame('a'));
  ASSERT_TRUE(until<PeerUp>(*router, *drafter));
  std::filesystem::remove(folder_ / "peers/drafter.pub");
  EXPECT_TRUE(until<PeerDown>(*router, *drafter));
  EXPECT_EQ(router->counters().cut_revoked, 1u);
  until(*drafter, *router, [&] { return router->counters().refused_keys > 0; });
}

TEST_F(KeyedTransport, DoesNotSpeakWithAServerThatHasAnotherKey) {
  auto router = server();
  auto drafter = client(keys("drafter"));
  drafter->connect(kServer, router->bound_endpoint() + "#verifier");
  until(*drafter, *router, [&] { return refused(*drafter) > 0; });
  EXPECT_EQ(router->counters().received, 0u);
}

// libzmq by itself dials after 20 to 40 ms again, for ever.
TEST_F(KeyedTransport, DialsAServerThatHasAnotherKeyAtGrowingGaps) {
  auto router = server();
  auto drafter = client(keys("drafter"));
  const auto began = std::chrono::steady_clock::now();
  drafter->connect(kServer, router->bound_endpoint() + "#verifier");
  until(*drafter, *router, [&] { return refused(*drafter) >= 8; });
  EXPECT_GE(std::chrono::steady_clock::now() - began, (20 + 40 + 80 + 160 + 320 + 640 + 1280) * 1ms);
}

TEST_F(KeyedTransport, TakesTheServersTrueKeyWhenItIsPutRight) {
  const auto pub = folder_ / "peers/router.pub";
  auto router = server();
  std::filesystem::copy_file(pub, folder_ / "true.pub");
  std::filesystem::remove(pub);
  const KeyPair another = make_key_pair();
  ASSERT_TRUE(write_key_files(folder_ / "elsewhere", "router", another));
  std::filesystem::copy_file(folder_ / "elsewhere/peers/router.pub", pub);
  auto drafter = client(keys("drafter"));
  drafter->connect(kServer, router->bound_endpoint() + "#router");
  until(*drafter, *router, [&] { return refused(*drafter) > 1; });
  std::filesystem::copy_file(folder_ / "true.pub", pub, std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(until<PeerUp>(*drafter, *router));
}

TEST_F(KeyedTransport, DoesNotSpeakWithoutKeys) {
  auto router = server();
  auto stranger = client(std::nullopt);
  stranger->connect(kServer, router->bound_endpoint());
  until(*stranger, *router, [&] { return refused(*router) > 0 && refused(*stranger) > 0; });
  auto open_server = *ZmqTransport::open({.self = kServerLife, .bind = "tcp://127.0.0.1:0"});
  auto drafter = client(keys("drafter"));
  drafter->connect(kServer, open_server->bound_endpoint() + "#router");
  until(*drafter, *open_server, [&] { return refused(*drafter) > 0 && refused(*open_server) > 0; });
}

TEST_F(KeyedTransport, SaysWhichKeyIsMissing) {
  auto drafter = client(keys("drafter"));
  drafter->connect(kServer, "tcp://127.0.0.1:7#router-9");
  auto event = drafter->next(1s);
  ASSERT_TRUE(event && std::holds_alternative<Malformed>(*event));
  EXPECT_NE(std::get<Malformed>(*event).why.find("\"router-9\" is not enrolled"), std::string::npos);
  drafter->connect(Peer{2}, "tcp://127.0.0.1:7");
  event = drafter->next(1s);
  ASSERT_TRUE(event && std::holds_alternative<Malformed>(*event));
  EXPECT_NE(std::get<Malformed>(*event).why.find("names no key"), std::string::npos);
  auto stranger = client(std::nullopt);
  stranger->connect(kServer, "tcp://127.0.0.1:7#router");
  event = stranger->next(1s);
  ASSERT_TRUE(event && std::holds_alternative<Malformed>(*event));
  EXPECT_NE(std::get<Malformed>(*event).why.find("give it --key and --peers"), std::string::npos);
}

TEST_F(KeyedTransport, MayListenBeyondThisHost) {
  EXPECT_TRUE(ZmqTransport::open({.self = 1, .bind = "tcp://0.0.0.0:0", .keys = keys("router"), .admits = {"drafter"}}));
}

// What strangers cannot: a ROUTER that speaks CURVE hears nothing of a peer without keys, endless
// or not.
TEST_F(KeyedTransport, HoldsNothingOfAStranger) {
  auto router = server();
  const std::string endpoint = router->bound_endpoint();
  uint16_t port = 0;
  std::from_chars(endpoint.data() + endpoint.rfind(':') + 1, endpoint.data() + endpoint.size(), port);
  std::jthread stranger([port] { EXPECT_THROW(ZmtpPeer::connect(port), std::runtime_error); });
  until(*router, *router, [&] { return refused(*router) > 0; });
}

}  // namespace
}  // namespace slipstream
