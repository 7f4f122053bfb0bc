// The parser of promql.h: precedence climbing over the text itself.
#include <array>
#include <cctype>
#include <charconv>

#include "tests/sim/day/promql.h"

namespace slipstream::sim {
namespace {

constexpr std::string_view kWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:";
constexpr std::array<std::string_view, 5> kAggregations{"sum", "min", "max", "count", "avg"};

struct Level {
  std::array<std::string_view, 6> operators;
};
constexpr std::array<Level, 5> kLevels{
    {{{"or"}}, {{"and", "unless"}}, {{"==", "!=", ">=", "<=", ">", "<"}}, {{"+", "-"}}, {{"*", "/"}}}};

// Throws Wrong inside this file, where a parse has failed.
struct Wrong {
  std::string what;
};

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  PromNode whole() {
    PromNode node = level(0);
    skip();
    if (!rest_.empty()) throw Wrong{"what is this: " + std::string(rest_.substr(0, 30))};
    return node;
  }

 private:
  void skip() {
    while (!rest_.empty()) {
      if (rest_.front() == '#') {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (std::isspace(static_cast<unsigned char>(rest_.front())) != 0) {
        rest_.remove_prefix(1);
      } else {
        return;
      }
    }
  }
  std::string_view peek_word() {
    skip();
    return rest_.substr(0, std::min(rest_.find_first_not_of(kWord), rest_.size()));
  }
  std::string word() {
    const std::string_view found = peek_word();
    if (found.empty()) throw Wrong{"a name is missing before: " + std::string(rest_.substr(0, 30))};
    rest_.remove_prefix(found.size());
    return std::string(found);
  }
  bool take(std::string_view text) {
    skip();
    const bool is_word = kWord.contains(text.front());
    if (is_word ? peek_word() != text : !rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  void need(std::string_view text) {
    if (!take(text)) throw Wrong{"'" + std::string(text) + "' is missing before: " + std::string(rest_.substr(0, 30))};
  }

  std::vector<std::string> names() {
    std::vector<std::string> found;
    need("(");
    while (!take(")")) {
      found.push_back(word());
      take(",");
    }
    return found;
  }
  std::string text() {
    need("\"");
    const size_t end = rest_.find('"');
    if (end == std::string_view::npos || rest_.substr(0, end).contains('\\')) throw Wrong{"a text that this does not read"};
    std::string found(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return found;
  }
  double number() {
    double value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc()) throw Wrong{"no number: " + std::string(rest_.substr(0, 30))};
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }
  double duration() {
    skip();
    const double value = number();
    const std::string unit = word();
    return value * (unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : throw Wrong{"no unit of time: " + unit});
  }

  PromNode level(size_t at) {
    if (at == kLevels.size()) return primary();
    PromNode left = level(at + 1);
    for (bool found = true; found;) {
      found = false;
      for (const std::string_view operation : kLevels[at].operators) {
        if (operation.empty() || !take(operation)) continue;
        PromNode node{.kind = PromNode::Kind::operation, .name = std::string(operation)};
        node.boolean = take("bool");
        if ((node.grouped = take("on"))) node.group = names();
        node.arguments.push_back(std::move(left));
        node.arguments.push_back(level(at + 1));
        left = std::move(node);
        found = true;
        break;
      }
    }
    return left;
  }

  PromNode primary() {
    skip();
    if (take("(")) {
      PromNode inner = level(0);
      need(")");
      return inner;
    }
    if (rest_.starts_with('"')) return {.kind = PromNode::Kind::text, .name = text()};
    if (!rest_.empty() && std::isdigit(static_cast<unsigned char>(rest_.front())) != 0) return {.number = number()};
    PromNode node{.name = word()};
    for (const std::string_view aggregation : kAggregations) {
      if (node.name == aggregation) node.kind = PromNode::Kind::aggregation;
    }
    if (node.kind == PromNode::Kind::aggregation && (node.grouped = take("by"))) node.group = names();
    if (take("(")) {
      if (node.kind != PromNode::Kind::aggregation) node.kind = PromNode::Kind::call;
      while (!take(")")) {
        node.arguments.push_back(level(0));
        take(",");
      }
      return node;
    }
    node.kind = PromNode::Kind::selector;
    selector(node);
    return node;
  }

  void selector(PromNode& node) {
    if (take("{")) {
      while (!take("}")) {
        PromNode::Matcher matcher{.label = word(), .value = {}};
        matcher.equal = !take("!=");
        if (matcher.equal) need("=");
        matcher.value = text();
        node.matchers.push_back(std::move(matcher));
        take(",");
      }
    }
    if (take("[")) {
      node.range = duration();
      need("]");
    }
  }

  std::string_view rest_;
};

void add_metrics(const PromNode& node, std::set<std::string, std::less<>>& to) {
  if (node.kind == PromNode::Kind::selector) to.insert(node.name);
  for (const PromNode& argument : node.arguments) add_metrics(argument, to);
}

}  // namespace

Result<Query> Query::parse(std::string_view text) {
  try {
    return Query(Parser(text).whole());
  } catch (const Wrong& wrong) {
    return fail("{}", wrong.what);
  }
}

std::set<std::string, std::less<>> Query::metrics() const {
  std::set<std::string, std::less<>> found;
  add_metrics(root_, found);
  return found;
}

}  // namespace slipstream::sim
