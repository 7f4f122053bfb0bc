#include "common/base/host_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/endpoint.h"

namespace slipstream {
namespace {

using testing::Contains, testing::ElementsAre;

TEST(AddressesOf, AHostIsLookedUpAndOneThatIsNotThereIsAnError) {
  EXPECT_THAT(*addresses_of("localhost"), Contains(testing::AnyOf("127.0.0.1", "::1")));
  EXPECT_THAT(*addresses_of("127.0.0.9"), ElementsAre("127.0.0.9"));
  EXPECT_THAT(addresses_of("no-such-host.invalid").error().message, testing::HasSubstr("no-such-host.invalid"));
}

// 192.0.2.1 is nobody's (RFC 5737).
TEST(OwnAddress, IsOneThatOtherMachinesMayKnow) {
  for (const char* towards : {"192.0.2.1", "127.0.0.1", "::1", "", "a-name"}) {
    const Endpoint own{own_address(towards), 80};
    EXPECT_FALSE(own.host.empty()) << towards;
    EXPECT_FALSE(own.loopback() || own.every_address()) << towards << ": " << own.host;
    EXPECT_TRUE(parse_endpoint(own.address(), Use::connect)) << own.address();
  }
}

}  // namespace
}  // namespace slipstream
