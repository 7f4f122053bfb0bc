// The web page at /ui: which files are served, how, and that nothing in them is inline.
#include "services/router/http_api/ui_page.h"

#include <regex>

#include "services/router/http_api/ui_files.h"
#include "tests/unit/common/http/wire_client.h"
#include "tests/unit/services/router/http_api/front.h"

namespace slipstream {
namespace {

using UiPage = HttpApiTest;

std::string header(const http::Response& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

TEST(UiResponse, HasATypeForEachFileThatABrowserTakes) {
  const std::pair<const char*, const char*> kWanted[] = {{"/ui", "text/html; charset=utf-8"},
                                                         {"/ui/index.html", "text/html; charset=utf-8"},
                                                         {"/ui/style.css", "text/css; charset=utf-8"},
                                                         {"/ui/app.js", "text/javascript; charset=utf-8"},
                                                         {"/ui/icon.svg", "image/svg+xml"}};
  for (const auto& [path, type] : kWanted) {
    const auto response = ui_response(path);
    ASSERT_TRUE(response) << path;
    EXPECT_EQ(response->content_type, type) << path;
    EXPECT_FALSE(response->body.empty()) << path;
  }
  for (const EmbeddedFile& file : ui_files()) {
    EXPECT_NE(ui_response(fmt::format("/ui/{}", file.name))->content_type, "application/octet-stream") << file.name;
  }
}

TEST(UiResponse, LetsABrowserRunAndLoadNothingButItsOwnFiles) {
  for (const char* path : {"/ui", "/ui/app.js"}) {
    const auto response = ui_response(path);
    ASSERT_TRUE(response);
    const std::string policy = header(*response, "Content-Security-Policy");
    EXPECT_THAT(policy, testing::AllOf(testing::StartsWith("default-src 'self';"), HasSubstr("frame-ancestors 'none'")));
    EXPECT_THAT(policy, testing::Not(HasSubstr("unsafe")));
    EXPECT_EQ(header(*response, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(*response, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(header(*response, "Cache-Control"), "no-cache");
  }
}

TEST(UiResponse, IsA404ForWhatIsNoFileOfThePage) {
  for (const char* path : {"/ui/nothing", "/ui//app.js", "/ui/../app.js", "/ui/app.js/", "/ui/ui/app.js"}) {
    const auto response = ui_response(path);
    ASSERT_FALSE(response) << path;
    EXPECT_EQ(response.error().status, 404);
    EXPECT_THAT(response.error().message, HasSubstr("the page is at /ui"));
  }
}

// The browser would refuse what is inline; and text that became HTML could carry anything.
TEST(UiFiles, HaveNothingInlineAndMakeNoHtmlOfText) {
  const std::regex inline_script(R"(<script(?![^>]*\bsrc=)|<style|\sstyle=|\son[a-z]+=|javascript:)");
  const std::regex html_of_text(R"(innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc)");
  for (const EmbeddedFile& file : ui_files()) {
    const std::string text(file.content);
    EXPECT_FALSE(file.name.ends_with(".html") && std::regex_search(text, inline_script)) << file.name;
    EXPECT_FALSE(std::regex_search(text, html_of_text)) << file.name;
    EXPECT_EQ(text.find("//fonts."), text.npos) << file.name << " loads something from elsewhere";
  }
}

// A module that the build forgot would be a page that does nothing.
TEST(UiFiles, HoldEveryModuleThatTheyImport) {
  const std::regex import(R"re(from "\./([\w.]+)")re");
  for (const EmbeddedFile& file : ui_files()) {
    const std::string text(file.content);
    for (std::sregex_iterator at(text.begin(), text.end(), import), end; at != end; ++at)
      EXPECT_TRUE(ui_response("/ui/" + (*at)[1].str())) << file.name << " imports " << (*at)[1].str();
  }
}

TEST_F(UiPage, IsServedWithAndWithoutASlashAndNamedByTheFrontPage) {
  const auto page = get("/ui");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, testing::StartsWith("<!doctype html>"));
  EXPECT_EQ(get("/ui/").body, page.body);
  EXPECT_EQ(get("/ui/nothing").status, 404);
  EXPECT_EQ(get("/uix").status, 404);
  EXPECT_THAT(get("/").body, HasSubstr("/ui in a browser"));
}

TEST_F(UiPage, AnswersHeadWithoutABodyAndNothingElse) {
  WireClient client(server.port());
  client.send("HEAD /ui/app.js HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string head = client.until("\r\n\r\n");
  EXPECT_THAT(head, testing::AllOf(testing::StartsWith("HTTP/1.1 200"), HasSubstr("text/javascript"), HasSubstr("nosniff")));
  EXPECT_THAT(head, HasSubstr(fmt::format("Content-Length: {}\r\n", ui_response("/ui/app.js")->body.size())));
  EXPECT_EQ(post("{}", "/ui").get().status, 405);
}

}  // namespace
}  // namespace slipstream
