#include "common/base/host_addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace slipstream {
namespace {

using testing::Contains, testing::ElementsAre;

TEST(AddressesOf, AHostIsLookedUpAndOneThatIsNotThereIsAnError) {
  EXPECT_THAT(*addresses_of("localhost"), Contains(testing::AnyOf("127.0.0.1", "::1")));
  EXPECT_THAT(*addresses_of("127.0.0.9"), ElementsAre("127.0.0.9"));
  EXPECT_THAT(addresses_of("no-such-host.invalid").error().message, testing::HasSubstr("no-such-host.invalid"));
}

}  // namespace
}  // namespace slipstream
