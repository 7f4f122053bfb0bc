// The fault proxy does to messages what it claims to do, and nothing else.
#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "common/zmq/envelope.h"
#include "tests/e2e/faults/proxy.h"

namespace slipstream::faults {
namespace {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

void append(Bytes& to, std::span<const std::byte> more) { to.insert(to.end(), more.begin(), more.end()); }

Bytes frame(int flags, std::span<const std::byte> body) {
  Bytes bytes{std::byte(flags)};
  if (body.size() > 255) {
    bytes[0] |= std::byte{2};
    for (int shift = 56; shift >= 0; shift -= 8) bytes.push_back(std::byte(body.size() >> shift & 0xFF));
  } else {
    bytes.push_back(std::byte(body.size()));
  }
  append(bytes, body);
  return bytes;
}

Bytes message(Boundary boundary, size_t payload, std::byte fill = std::byte{7}) {
  Bytes bytes = frame(1, pack({boundary, 5}));
  append(bytes, frame(0, Bytes(payload, fill)));
  return bytes;
}

const Bytes kGreeting(64, std::byte{0x7F});

TEST(ZmtpUnits, AreTheSameHoweverTheBytesCome) {
  const Bytes ready = frame(4, Bytes(20, std::byte{'R'})), small = message(Boundary::draft, 3),
              large = message(Boundary::generate, 70'000);
  Bytes all = kGreeting;
  for (const Bytes& part : {ready, small, large}) append(all, part);
  for (const size_t piece : {1UL, 7UL, 64UL, 4096UL, all.size()}) {
    ZmtpUnits units;
    Bytes greeting;
    std::vector<Unit> rest;
    for (size_t at = 0; at < all.size(); at += piece) {
      units.add(std::span(all).subspan(at, std::min(piece, all.size() - at)));
      for (auto unit = *units.next(); unit; unit = *units.next()) {
        if (unit->kind == Unit::Kind::greeting)
          append(greeting, unit->bytes);
        else
          rest.push_back(*std::move(unit));
      }
    }
    EXPECT_EQ(greeting, kGreeting);
    ASSERT_EQ(rest.size(), 3U) << "in pieces of " << piece;
    EXPECT_EQ(rest[0].kind, Unit::Kind::command);
    EXPECT_EQ(rest[0].bytes, ready);
    EXPECT_EQ(rest[1].bytes, small);
    EXPECT_EQ(rest[1].boundary, Boundary::draft);
    EXPECT_EQ(rest[2].bytes, large);
    EXPECT_EQ(rest[2].boundary, Boundary::generate);
  }
}

TEST(ZmtpUnits, EndAtTheirLimit) {
  ZmtpUnits units;
  units.add(kGreeting);
  EXPECT_TRUE(units.next());
  const Bytes part = frame(1, Bytes(1024 * 1024));  // more is to come, for ever
  for (int i = 0; i < 3; ++i) units.add(part);
  EXPECT_FALSE(units.next());
}

class FaultyDirectionTest : public testing::Test {
 protected:
  FaultyDirection make(const Weather& weather) {
    weather_ = weather;
    return {weather_, Direction::to_client, sim::RandomSource(1, "test"), tally_};
  }
  static Unit unit(uint8_t name) {
    return {.kind = Unit::Kind::message, .bytes = {std::byte{name}}, .boundary = Boundary::control};
  }
  static std::string released(FaultyDirection& way, Time now) {
    Bytes out;
    way.release(now, out);
    return {reinterpret_cast<const char*>(out.data()), out.size()};
  }
  const Counts& counts() const { return tally_.at(Boundary::control, Direction::to_client); }

  Weather weather_;
  Tally tally_;
};

TEST_F(FaultyDirectionTest, PassesAllOnInOrderInFairWeather) {
  FaultyDirection way = make({});
  for (const char name : {'a', 'b', 'c'}) way.take(unit(static_cast<uint8_t>(name)), 5us);
  EXPECT_EQ(way.next(), 5us);
  EXPECT_EQ(released(way, 5us), "abc");
  EXPECT_EQ(way.next(), std::nullopt);
  EXPECT_EQ(counts().messages, 3U);
}

TEST_F(FaultyDirectionTest, LosesAndDoublesTheSharesItWasGiven) {
  FaultyDirection way = make({.loss = 0.05, .duplicate = 0.05, .reorder_most = 10ms});
  for (int i = 0; i < 100'000; ++i) way.take(unit(1), Time(i));
  const size_t arrived = released(way, 10s).size();
  EXPECT_NEAR(static_cast<double>(counts().lost), 5000, 350);
  EXPECT_NEAR(static_cast<double>(counts().doubled), 5000, 350);
  EXPECT_EQ(arrived, 100'000 - counts().lost + counts().doubled);
}

TEST_F(FaultyDirectionTest, LetsThoseBehindOvertake) {
  FaultyDirection way = make({.reorder = 0.5, .reorder_most = 10ms});
  std::string sent;
  for (char name = 'a'; name <= 'z'; ++name) {
    way.take(unit(static_cast<uint8_t>(name)), Time(0));
    sent += name;
  }
  std::string heard = released(way, 0ms);
  const size_t at_once = heard.size();
  heard += released(way, 10ms);
  EXPECT_LT(at_once, sent.size());
  EXPECT_NE(heard, sent);
  EXPECT_GT(counts().overtaken, 0U);
  std::ranges::sort(heard);
  EXPECT_EQ(heard, sent);
}

TEST_F(FaultyDirectionTest, HoldsAllUpForASpikeAndNotForLonger) {
  FaultyDirection way = make({.spike = 1, .spike_lasts = 50ms});
  way.take(unit('a'), 0ms);
  weather_.spike = 0;
  way.take(unit('b'), 20ms);
  EXPECT_EQ(released(way, 49ms), "");
  EXPECT_EQ(released(way, 50ms), "ab");
  way.take(unit('c'), 51ms);
  EXPECT_EQ(released(way, 51ms), "c");
  EXPECT_EQ(counts().spikes, 1U);
  EXPECT_EQ(counts().delayed, 2U);
}

TEST_F(FaultyDirectionTest, LeavesGreetingAndCommandsAlone) {
  FaultyDirection way = make({.loss = 1});
  way.take({.kind = Unit::Kind::greeting, .bytes = {std::byte{'g'}}, .boundary = {}}, 0ms);
  way.take({.kind = Unit::Kind::command, .bytes = {std::byte{'c'}}, .boundary = {}}, 0ms);
  way.take(unit('m'), 0ms);
  EXPECT_EQ(released(way, 0ms), "gc");
}

TEST(Tallies, AreReadAsTheyWereWritten) {
  Tally tally;
  tally.at(Boundary::draft, Direction::to_client) = {1, 2, 3, 4, 5, 6, 7};
  tally.cuts = 8;
  const auto file = std::filesystem::temp_directory_path() / fmt::format("tally-{}.json", getpid());
  ASSERT_TRUE(write_tally(file, tally));
  const auto read = read_tally(file);
  std::filesystem::remove(file);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->at(Boundary::draft, Direction::to_client).gone, 7U);
  EXPECT_EQ(read->sum().messages, 1U);
  EXPECT_EQ(read->cuts, 8U);
}

}  // namespace
}  // namespace slipstream::faults
