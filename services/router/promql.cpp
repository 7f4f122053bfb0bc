#include "services/router/promql.h"

#include <charconv>

#include <simdjson.h>

namespace slipstream {
namespace {

// A value is a string, since JSON has no NaN: "1.5", "+Inf", "NaN".
bool read_value(std::string_view text, double& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool read_labels(const simdjson::dom::object& metric, Sample& sample) {
  for (const auto [key, field] : metric) {
    std::string_view text;
    if (field.get(text) != simdjson::SUCCESS || sample.labels.size() >= kScrapeLabelsMax) return false;
    if (key == "__name__") {
      sample.name = text;
    } else {
      sample.labels.insert_or_assign(std::string(key), std::string(text));
    }
  }
  return true;
}

}  // namespace

Result<std::map<std::string, std::vector<Sample>>> read_query(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element answer;
  if (parser.parse(json.data(), json.size()).get(answer) != simdjson::SUCCESS) return fail("the answer is no JSON");
  std::string_view status, type;
  simdjson::dom::array series;
  if (answer["status"].get(status) != simdjson::SUCCESS || status != "success" ||
      answer["data"]["resultType"].get(type) != simdjson::SUCCESS || type != "vector" ||
      answer["data"]["result"].get(series) != simdjson::SUCCESS) {
    return fail("the answer has no vector");
  }
  std::map<std::string, std::vector<Sample>> workers;
  for (const simdjson::dom::element one : series) {
    Sample sample;
    simdjson::dom::object metric;
    std::string_view text;
    const bool whole = one["metric"].get(metric) == simdjson::SUCCESS && read_labels(metric, sample) &&
                       one["value"].at(1).get(text) == simdjson::SUCCESS && read_value(text, sample.value);
    if (!whole) return fail("a series of the answer is none");
    const std::string instance(sample.label("instance"));
    sample.labels.erase("instance");
    sample.labels.erase("job");
    workers[instance].push_back(std::move(sample));
  }
  return workers;
}

}  // namespace slipstream
