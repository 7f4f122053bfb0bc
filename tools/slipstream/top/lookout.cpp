#include "tools/slipstream/top/lookout.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "tools/slipstream/top/read_pages.h"

namespace slipstream::command::top {
namespace {

constexpr int kStatusOk = 200, kStatusNotFound = 404;

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// The body of a page; nullopt: there is no such page, as in a router of another version.
Result<std::optional<std::string>> page_if_there(http::Client& client, std::string_view path) {
  TRY(http::Reply reply, client.get(path));
  if (reply.status == kStatusNotFound) return std::nullopt;
  if (reply.status != kStatusOk) return fail("{}", error_message(reply.body, reply.status));
  return std::move(reply.body);
}

Result<Scrape> scrape(http::Client& client, std::string_view path) {
  TRY(const auto body, page_if_there(client, path));
  if (!body) return fail("there is no {}; is it a Slipstream router?", path);
  return Scrape::parse(*body);
}

}  // namespace

Result<Lookout> Lookout::open(const ServerUrl& url, const std::string& ca_file, const std::string& api_key) {
  TRY(http::Client client, url.client(ca_file, kLookTimeout));
  client.limit_answers(kScrapeBytesMax, kLookTimeout);
  client.set_api_key(api_key);
  return Lookout(url.text(), std::move(client));
}

FleetLook Lookout::look() {
  FleetLook look{.at_s = now_s(), .url = url_};
  if (const auto read = read_router(look); !read) look.trouble = "the router cannot be read: " + read.error().message;
  look.model = model_;
  for (WorkerLook& worker : look.workers) read_page(worker);
  std::erase_if(pages_, [&](const auto& page) {
    return std::ranges::find(look.workers, page.first, &WorkerLook::metrics) == look.workers.end();
  });
  return look;
}

Result<void> Lookout::read_router(FleetLook& look) {
  TRY(look.router, scrape(router_, "/metrics"));
  if (model_.empty()) {
    TRY(const ServedModel served, served_model(router_));
    model_ = served.name;
  }
  TRY(const auto workers, page_if_there(router_, "/workers"));
  if (workers) {
    TRY(look.workers, read_workers(*workers));
  }
  TRY(const auto tuning, page_if_there(router_, "/tuning"));
  if (tuning) {
    TRY(look.tuning, read_tuning(*tuning));
  }
  return {};
}

void Lookout::read_page(WorkerLook& worker) {
  Page* page = page_of(worker.metrics);
  if (page == nullptr || (page->rests > 0 && page->rests-- > 0)) return;
  auto read = scrape(page->client, page->path);
  if (!read) {
    page->rests = kRests;
    return;
  }
  worker.page = *std::move(read);
}

Lookout::Page* Lookout::page_of(const std::string& address) {
  if (const auto at = pages_.find(address); at != pages_.end()) return &at->second;
  const size_t scheme = address.find("://");
  const size_t slash = scheme == address.npos ? address.npos : address.find('/', scheme + 3);
  if (slash == address.npos) return nullptr;
  const auto url = ServerUrl::parse(address.substr(0, slash));
  auto client = url ? url->client({}, kLookTimeout) : fail("no address");
  if (!client) return nullptr;
  client->limit_answers(kScrapeBytesMax, kLookTimeout);
  return &pages_.emplace(address, Page{*std::move(client), address.substr(slash)}).first->second;
}

}  // namespace slipstream::command::top
