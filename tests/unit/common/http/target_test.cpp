#include "common/http/target.h"

#include <gtest/gtest.h>

namespace slipstream::http {
namespace {

void expect(std::string_view target, std::string_view path, std::string_view query, std::optional<std::string> host = {}) {
  const auto read = read_target(target);
  ASSERT_TRUE(read) << target;
  EXPECT_EQ(read->path, path) << target;
  EXPECT_EQ(read->query, query) << target;
  EXPECT_EQ(read->host, host) << target;
}

TEST(Target, HasAPathAndAQuery) {
  expect("/v1/models", "/v1/models", "");
  expect("/x?a=b?c", "/x", "a=b?c");
  expect("*", "*", "");
  expect("//h/x", "//h/x", "");
  expect("ftp://h/x", "ftp://h/x", "");
  expect("/http://h/x", "/http://h/x", "");
}

TEST(Target, MayBeAWholeUrl) {
  expect("http://h/v1/models?a", "/v1/models", "a", "h");
  expect("HTTPS://H:8443/x", "/x", "", "H:8443");
  expect("http://[::1]:80", "/", "", "[::1]:80");
  expect("http://h?a=/b", "/", "a=/b", "h");
}

TEST(Target, OfAUrlNamesAHostAndNoUser) {
  for (const char* bad : {"http://", "http:///x", "http://?a", "http://:80/x", "http://me@h/x", "http://a b/", "http://h:x/"})
    EXPECT_FALSE(read_target(bad)) << bad;
}

TEST(Host, IsANameOrAnAddressWithAPortOrWithout) {
  for (const char* good : {"h", "chat.example", "chat.example.", "a_b:80", "10.0.0.5:8080", "[::1]", "[fe80::1]:80", "h:"})
    EXPECT_TRUE(names_host(good)) << good;
  for (const char* bad :
       {"", ":80", "a b", "a/b", "http://a", "me@h", "h:8x", "[::1", "[]", "[::1]80", "::1", "a\"b", "h:80:81"})
    EXPECT_FALSE(names_host(bad)) << bad;
}

}  // namespace
}  // namespace slipstream::http
