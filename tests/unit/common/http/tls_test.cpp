#include "common/http/tls.h"

#include <filesystem>
#include <optional>

#include "common/http/client.h"
#include "common/http/tls_context.h"
#include "tests/unit/common/http/certificate.h"
#include "tests/unit/common/http/echo_server.h"

namespace slipstream::http {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::chrono::milliseconds kPatience{20'000};

class Https : public EchoServer {
 protected:
  Https() {
    auto tls = Tls::load(certificate_.file(), certificate_.key_file());
    EXPECT_TRUE(tls) << tls.error().message;
    tls_ = *std::move(tls);
  }
  Client ask(const ClientTls& tls, const std::string& host = "127.0.0.1") {
    Client client(host, port(), kPatience);
    const auto set = client.use_tls(tls);
    EXPECT_TRUE(set) << set.error().message;
    return client;
  }
  Client ask() { return ask({.ca_file = certificate_.file()}); }

  Certificate certificate_;
};

TEST_F(Https, GetsAndPostsOverOneConnection) {
  start();
  Client client = ask();
  const auto got = client.get("/a?b=c");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->body, "GET /a?b=c  ");
  const std::string large(1'000'000, 'x');
  const auto posted = client.post("/p", large);
  ASSERT_TRUE(posted) << posted.error().message;
  EXPECT_EQ(posted->body, "POST /p? application/json " + large);
  EXPECT_EQ(server_->counters().connections, 1U);
}

TEST_F(Https, StreamsEventsAsTheyCome) {
  start();
  std::vector<std::string> events;
  Happening seen;
  Result<Reply> reply;
  std::thread asking([&] {
    reply = ask().post_stream("/held", "{}", [&](std::string_view data) {
      events.emplace_back(data);
      seen.happen();
      return true;
    });
  });
  Exchange exchange = held();
  exchange.begin_stream("text/event-stream");
  exchange.write("data: one\n\n");
  EXPECT_TRUE(seen.wait(1));
  exchange.write("data: two\n\n");
  exchange.end();
  asking.join();
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_THAT(events, testing::ElementsAre("one", "two"));
}

TEST_F(Https, TellsWhoIsOverTheConnectionLimit) {
  start({.connections = 1});
  std::thread asking([&] { (void)ask().post_stream("/held", "{}", [](std::string_view) { return true; }); });
  Exchange exchange = held();
  Client other = ask();
  const auto refused = other.get("/x");
  ASSERT_TRUE(refused) << refused.error().message;
  EXPECT_EQ(refused->status, 503);
  EXPECT_THAT(refused->body, HasSubstr("all 1 connections"));
  EXPECT_EQ(server_->counters().connections, 1U);
  exchange.send({.body = "{}"});
  asking.join();
}

TEST_F(Https, NoticesTheClientThatLeaves) {
  start();
  Happening left;
  Client client = ask();
  std::thread asking([&] { (void)client.post_stream("/held", "{}", [](std::string_view) { return false; }); });
  Exchange exchange = held();
  exchange.on_gone([&] { left.happen(); });
  exchange.begin_stream("text/event-stream");
  exchange.write("data: one\n\n");
  EXPECT_TRUE(left.wait());
  asking.join();
}

TEST_F(Https, TellsTheClientThatAStreamWasCut) {
  start();
  Result<Reply> reply;
  std::thread asking([&] { reply = ask().post_stream("/held", "{}", [](std::string_view) { return true; }); });
  Exchange exchange = held();
  exchange.begin_stream("text/event-stream");
  exchange.write("data: one\n\n");
  exchange.abort();
  asking.join();
  EXPECT_FALSE(reply);
}

TEST_F(Https, IsRefusedByAClientThatDoesNotTrustItsCertificate) {
  start();
  const auto stranger = ask({}).get("/");
  ASSERT_FALSE(stranger);
  EXPECT_THAT(stranger.error().message,
              AllOf(HasSubstr("not trusted here"), HasSubstr("--cacert FILE"), HasSubstr("SSL_CERT_FILE")));
  const auto other_name = ask({.ca_file = certificate_.file()}, "localhost").get("/");
  ASSERT_FALSE(other_name) << "the certificate names 127.0.0.1 only";
  EXPECT_THAT(other_name.error().message, HasSubstr("not trusted here"));
  EXPECT_TRUE(ask({.any = true}).get("/"));
}

TEST_F(Https, TellsAClientThatSpeaksInClear) {
  start();
  auto client = this->client();
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  EXPECT_THAT(client.all(), AllOf(HasSubstr("HTTP/1.1 400"), HasSubstr("speaks HTTPS")));
  EXPECT_TRUE(eventually([](const ServerCounters& now) { return now.bad_requests == 1 && now.connections == 0; }));
}

TEST_F(Https, IsMissedByAClientThatWantsIt) {
  tls_ = {};
  start();
  const auto reply = ask().get("/");
  ASSERT_FALSE(reply);
  EXPECT_THAT(reply.error().message, HasSubstr("does not speak HTTPS"));
}

// Neither a client that says nothing nor one that stops in the middle of the handshake.
TEST_F(Https, IsHeldUpByNobodysHandshake) {
  start({.tls = std::chrono::milliseconds(200)});
  auto silent = client(), halfway = client();
  halfway.send(std::string("\x16\x03\x01\x02\x00\x01", 6));
  EXPECT_TRUE(ask().get("/meanwhile"));
  EXPECT_EQ(silent.all(), "");
  EXPECT_EQ(halfway.all(), "");
  EXPECT_TRUE(eventually([](const ServerCounters& now) { return now.bad_requests == 2; }));
}

TEST_F(Https, EndsItsConnectionsWhenItFinishes) {
  start({.handshake = std::chrono::milliseconds(10)});
  Client client = ask();
  ASSERT_TRUE(client.get("/"));
  auto silent = this->client();
  server_->finish(kPatience);
  EXPECT_EQ(server_->counters().connections, 0U);
  EXPECT_EQ(silent.all(), "");
}

TEST_F(Https, EndsTheConnectionThatAnAnswerCloses) {
  start();
  Client client = ask();
  ASSERT_EQ(client.get("/dropped")->status, 500);
  ASSERT_TRUE(client.get("/again"));
  server_->finish(kPatience);
  EXPECT_FALSE(client.get("/late"));
}

void copy(const std::string& from, const std::string& to) {
  std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
}

// A connection that is open goes on, and new ones get the new certificate.
TEST_F(Https, GivesNewConnectionsACertificateThatWasRenewed) {
  start();
  const Certificate renewed;
  Client old = ask();
  ASSERT_TRUE(old.get("/"));
  EXPECT_FALSE(ask({.ca_file = renewed.file()}).get("/"));
  copy(renewed.key_file(), certificate_.key_file());
  copy(renewed.file(), certificate_.file());
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!ask({.ca_file = renewed.file()}).get("/")) ASSERT_LT(std::chrono::steady_clock::now(), deadline);
  EXPECT_TRUE(old.get("/"));
  EXPECT_EQ(server_->counters().connections, 1U);
}

TEST(Tls, ReadsFilesAgainThatHaveChangedAndFitEachOther) {
  const Certificate certificate, renewed;
  Tls tls = *Tls::load(certificate.file(), certificate.key_file());
  const auto* const first = tls.context();
  auto now = FileWatch::Clock::now();
  const auto look = [&] {
    now += FileWatch::kBetweenLooks;
    tls.look_again(now);
    return tls.context();
  };
  EXPECT_EQ(look(), first) << "nothing has changed";
  copy(renewed.file(), certificate.file());
  EXPECT_EQ(look(), first) << "the key does not fit yet";
  copy(renewed.key_file(), certificate.key_file());
  tls.look_again(now);
  EXPECT_EQ(tls.context(), first) << "it was just looked at";
  EXPECT_NE(look(), first);
}

TEST(Tls, GoesOnWhereItsFilesAreGone) {
  std::optional<Certificate> certificate(std::in_place);
  Tls tls = *Tls::load(certificate->file(), certificate->key_file());
  const auto* const context = tls.context();
  certificate.reset();
  tls.look_again();
  EXPECT_EQ(tls.context(), context);
}

TEST(Tls, TakesNoVersionBefore12) {
  const Certificate certificate;
  const auto tls = Tls::load(certificate.file(), certificate.key_file());
  ASSERT_TRUE(tls);
  EXPECT_EQ(SSL_CTX_get_min_proto_version(tls->context()->ssl.native_handle()), TLS1_2_VERSION);
}

TEST(Tls, NamesTheFileThatIsWrong) {
  const Certificate one, other;
  const auto error = [](const std::string& certificate, const std::string& key) {
    const auto tls = Tls::load(certificate, key);
    return tls ? "" : tls.error().message;
  };
  EXPECT_EQ(error(one.file(), one.key_file()), "");
  EXPECT_THAT(error("/nowhere.pem", one.key_file()), AllOf(HasSubstr("certificate /nowhere.pem"), HasSubstr("cannot be read")));
  EXPECT_THAT(error(one.file(), "/nowhere.pem"), AllOf(HasSubstr("private key /nowhere.pem"), HasSubstr("cannot be read")));
  EXPECT_THAT(error(one.file(), other.key_file()), HasSubstr("does not belong to the certificate"));
  EXPECT_THAT(error(one.key_file(), one.key_file()), HasSubstr("is no certificate in PEM form"));
  EXPECT_THAT(error(one.file(), one.file()), HasSubstr("is no private key in PEM form"));
}

}  // namespace
}  // namespace slipstream::http
