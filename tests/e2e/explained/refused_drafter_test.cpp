// A drafter that does not fit the verifier is refused, and both logs say why.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/load.h"

namespace slipstream::e2e {
namespace {

void exchange_two_tokens(const std::filesystem::path& tokenizer_json) {
  std::ifstream in(tokenizer_json);
  std::string text(std::istreambuf_iterator<char>(in), {});
  for (const auto& [token, id] : {std::pair("\"M\": ", "63"), std::pair("\"N\": ", "62")}) {
    const size_t at = text.find(token);
    ASSERT_NE(at, text.npos);
    text.replace(at + std::string(token).size(), 2, id);
  }
  std::filesystem::permissions(tokenizer_json, std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  std::ofstream(tokenizer_json) << text;
}

TEST(RefusedDrafter, OfAnotherTokenizerIsToldTheReasonAndChangesNothing) {
  Cluster cluster(tiny_model());
  cluster.start_all("none");
  const std::vector<Question> asked = six_questions(0.0F, 1.0F);
  const std::vector<Answer> plain = cluster.ask_all(asked, 2);
  const std::filesystem::path other = cluster.folder() / "another-tokenizer";
  std::filesystem::copy(tiny_model(), other);
  exchange_two_tokens(other / "tokenizer.json");

  cluster.start_drafter({"--model", other.string()});
  cluster.wait_ports("drafter");
  cluster.wait("the refusal", [&] {
    return cluster.metrics("router").sum(metric::kRouterWorkerFaults.name, {R"(kind="refused")"}) > 0 &&
           cluster.log("drafter").find("other tokens") != std::string::npos;
  });
  EXPECT_NE(cluster.log("drafter").find("Start both from the same model folder"), std::string::npos);
  EXPECT_NE(cluster.log("router").find("other tokens"), std::string::npos);
  EXPECT_EQ(cluster.page("drafter", "/ready").status, 503);
  const std::vector<Answer> again = cluster.ask_all(asked, 2);
  for (size_t i = 0; i < asked.size(); ++i) EXPECT_EQ(again[i].ids, plain[i].ids);
  EXPECT_EQ(cluster.metrics("verifier").sum(metric::kVerifierNodesReceived.name), 0);
}

}  // namespace
}  // namespace slipstream::e2e
