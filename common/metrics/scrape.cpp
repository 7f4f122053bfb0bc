#include "common/metrics/scrape.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <tuple>

namespace slipstream {
namespace {

constexpr size_t kQuotedBytes = 60;  // of a wrong line, in the error

bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':'; }
bool in_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }
bool blank(char c) { return c == ' ' || c == '\t'; }

// Reads one line from its left end to its right.
class Line {
 public:
  explicit Line(std::string_view text) : rest_(text) {}

  void skip_blanks() {
    while (!rest_.empty() && blank(rest_.front())) rest_.remove_prefix(1);
  }
  bool done() const { return rest_.empty(); }
  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view name() {
    if (rest_.empty() || !begins_name(rest_.front())) return {};
    return prefix(static_cast<size_t>(std::ranges::find_if_not(rest_, in_name) - rest_.begin()));
  }
  std::string_view word() {  // up to the next blank
    return prefix(static_cast<size_t>(std::ranges::find_if(rest_, blank) - rest_.begin()));
  }
  // A label's value, quotes included; nullopt: it has no end, or an escape that is none.
  std::optional<std::string> quoted() {
    if (!take('"')) return std::nullopt;
    std::string value;
    while (!rest_.empty()) {
      const char c = rest_.front();
      rest_.remove_prefix(1);
      if (c == '"') return value;
      if (c != '\\') {
        value += c;
        continue;
      }
      if (rest_.empty()) return std::nullopt;
      const char escaped = rest_.front();
      rest_.remove_prefix(1);
      if (escaped != '\\' && escaped != '"' && escaped != 'n') return std::nullopt;
      value += escaped == 'n' ? '\n' : escaped;
    }
    return std::nullopt;
  }

 private:
  std::string_view prefix(size_t length) {
    const std::string_view taken = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return taken;
  }
  std::string_view rest_;
};

std::optional<double> number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);  // "+Inf"; from_chars knows no plus
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = end == text.data() + text.size() && !text.empty();
  return error == std::errc() && whole ? std::optional(value) : std::nullopt;
}

// What is wrong with the labels; empty: nothing.
std::string_view read_labels(Line& line, Sample& sample) {
  if (!line.take('{')) return {};
  for (;;) {
    line.skip_blanks();
    if (line.take('}')) return {};
    const std::string_view name = line.name();
    line.skip_blanks();
    if (name.empty() || !line.take('=')) return "a label has no name, or no =";
    line.skip_blanks();
    auto value = line.quoted();
    if (!value) return "a label's value is not in quotes";
    if (sample.labels.size() >= kScrapeLabelsMax) return "it has too many labels";
    if (!sample.labels.emplace(name, *std::move(value)).second) return "it has a label twice";
    line.skip_blanks();
    if (line.take(',')) continue;
    return line.take('}') ? std::string_view{} : "its labels do not end";
  }
}

// What is wrong with the line of a sample; empty: nothing.
std::string_view read_sample(std::string_view text, Sample& sample) {
  Line line(text);
  line.skip_blanks();
  sample.name = line.name();
  if (sample.name.empty()) return "it begins with no name";
  line.skip_blanks();
  if (const auto wrong = read_labels(line, sample); !wrong.empty()) return wrong;
  line.skip_blanks();
  const auto value = number(line.word());
  if (!value) return "its value is no number";
  sample.value = *value;
  line.skip_blanks();
  if (!line.done() && !number(line.word())) return "its timestamp is no number";
  line.skip_blanks();
  return line.done() ? std::string_view{} : "something follows its timestamp";
}

}  // namespace

std::string_view Sample::label(std::string_view of) const {
  const auto at = labels.find(of);
  return at == labels.end() ? std::string_view{} : at->second;
}

Result<Scrape> Scrape::of(std::vector<Sample> samples) {
  if (samples.size() > kScrapeSamplesMax) {
    return fail("{} samples are more than a page may have, {}", samples.size(), kScrapeSamplesMax);
  }
  const auto less = [](const Sample* a, const Sample* b) {
    return std::tie(a->name, a->labels) < std::tie(b->name, b->labels);
  };
  std::set<const Sample*, decltype(less)> seen(less);
  for (const Sample& sample : samples) {
    if (!seen.insert(&sample).second) return fail("a sample of {} comes twice", sample.name);
  }
  return Scrape(std::move(samples));
}

Result<Scrape> Scrape::parse(std::string_view text) {
  if (text.size() > kScrapeBytesMax) return fail("a page of {} bytes is too long: at most {}", text.size(), kScrapeBytesMax);
  std::vector<Sample> samples;
  for (size_t number = 1, at = 0; at < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.size() > kScrapeLineBytesMax) return fail("line {} has more than {} bytes", number, kScrapeLineBytesMax);
    const auto first = std::ranges::find_if_not(line, blank);
    if (first == line.end() || *first == '#') continue;
    if (samples.size() >= kScrapeSamplesMax) return fail("the page has more than {} samples", kScrapeSamplesMax);
    Sample sample;
    if (const auto wrong = read_sample(line, sample); !wrong.empty()) {
      return fail("line {} is no sample: {}: {}", number, wrong, line.substr(0, kQuotedBytes));
    }
    samples.push_back(std::move(sample));
  }
  return of(std::move(samples));
}

double Scrape::sum(std::string_view name, Labels labels) const {
  double total = 0;
  for (const Sample& sample : samples_) {
    const auto has = [&](const auto& wanted) {
      return sample.labels.contains(wanted.first) && sample.label(wanted.first) == wanted.second;
    };
    if (sample.name == name && std::ranges::all_of(labels, has)) total += sample.value;
  }
  return total;
}

double Scrape::quantile(std::string_view name, double q) const {
  std::vector<std::pair<double, double>> buckets;  // upper bound, count up to it
  for (const Sample& sample : samples_) {
    const auto bound = sample.name.ends_with("_bucket") && sample.name.substr(0, sample.name.size() - 7) == name
                           ? number(sample.label("le"))
                           : std::nullopt;
    if (bound && !std::isnan(*bound)) buckets.emplace_back(*bound, sample.value);
  }
  std::ranges::sort(buckets);
  if (buckets.empty()) return 0;
  const double wanted = q * buckets.back().second;
  double below = 0, bound = 0;
  for (const auto& [upper, count] : buckets) {
    if (count >= wanted && count > below && std::isfinite(upper))
      return bound + (upper - bound) * (wanted - below) / (count - below);
    if (std::isfinite(upper)) bound = upper;
    below = count;
  }
  return bound;
}

}  // namespace slipstream
