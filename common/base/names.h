// Names that operators and clients write and that several layers share: roles and their keys, draft
// methods, acceptance rules.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace slipstream {

// The roles of processes. The name of a key is a role, or a role, a dash and more: "drafter",
// "drafter-2".
inline constexpr std::string_view kRoles[] = {"router", "verifier", "drafter"};

// Whether a key of this name belongs to a process of this role.
//
//   key_is_of("drafter-2", "drafter") == true
//   key_is_of("drafters", "drafter") == false
inline bool key_is_of(std::string_view name, std::string_view role) {
  return name.starts_with(role) && (name.size() == role.size() || name[role.size()] == '-');
}

// The draft methods of this release, a line each:
//
//   METHOD(id, name, what it computes, what it is)
//
// A new method is its files in common/drafting, one of which defines make_<id>()
// (drafting/make_method.h), and its line here. The values of --method and `serve --drafter`, their
// help and their checks follow from the line. A drafter of another make may announce other names.
#define SLIPSTREAM_DRAFT_METHODS(METHOD)                                       \
  METHOD(ngram, "ngram", DraftNetwork::none, "look-up in the sequence itself") \
  METHOD(small_lm, "small-lm", DraftNetwork::model, "a small model")           \
  METHOD(draft_head, "draft-head", DraftNetwork::head, "the target's draft head")

// What a draft method computes, and so which flags are for it. Both networks take those of a
// device.
enum class DraftNetwork : uint8_t {
  none,
  model,  // --draft-model
  head    // --head
};

struct DraftMethodName {
  std::string_view name;
  DraftNetwork network;
  std::string_view what;  // in --help
};
#define SLIPSTREAM_NAME(id, ...) DraftMethodName{__VA_ARGS__},
inline constexpr DraftMethodName kDraftMethods[] = {SLIPSTREAM_DRAFT_METHODS(SLIPSTREAM_NAME)};
#undef SLIPSTREAM_NAME

inline constexpr auto kMethodNames = [] {
  std::array<std::string_view, std::size(kDraftMethods)> names;
  std::ranges::transform(kDraftMethods, names.begin(), &DraftMethodName::name);
  return names;
}();
// none also if there is no such method.
constexpr DraftNetwork network_of(std::string_view method) {
  const auto* const at = std::ranges::find(kDraftMethods, method, &DraftMethodName::name);
  return at == std::end(kDraftMethods) ? DraftNetwork::none : at->network;
}

inline constexpr std::string_view kNgram = "ngram";
inline constexpr std::string_view kNoMethod = "none";
inline constexpr std::array<std::string_view, 2> kResidentNames{kNgram, kNoMethod};  // those that may run inside a verifier

// Where a target's draft head drafts: in the verifier itself, or in drafters (method draft-head),
// to which the verifier sends features.
inline constexpr std::string_view kHeadHere = "verifier", kHeadAtDrafters = "drafters";
inline constexpr std::array<std::string_view, 2> kHeadPlaces{kHeadHere, kHeadAtDrafters};

// Who shares what speeds up later requests (prefix caches, look-up): requests with the same API
// key, or all.
inline constexpr std::string_view kTenantsByKey = "by-key", kOneTenant = "one";
inline constexpr std::array<std::string_view, 2> kTenantsNames{kTenantsByKey, kOneTenant};

// Where look-up looks (drafting/ngram.h).
inline constexpr std::string_view kLookUpOwn = "own", kLookUpTenant = "tenant", kLookUpAll = "all";
inline constexpr std::array<std::string_view, 3> kLookUpNames{kLookUpOwn, kLookUpTenant, kLookUpAll};

// An acceptance rule (messages/rules.h) and the fields of a request's `speculation` that belong to
// it.
struct RuleFields {
  std::string_view rule;
  std::string_view strength, delta;  // names of the required fields that declare its bias; "": the rule has no such field
  bool siblings = false;             // whether the optional field `siblings` is allowed
};

inline constexpr std::array<RuleFields, 9> kRuleFields{{{"coupled", "", ""},
                                                        {"ratio", "", "", true},
                                                        {"batch", "", "", true},
                                                        {"block", "", ""},
                                                        {"traversal", "", "", true},
                                                        {"lenience", "lenience", ""},
                                                        {"pareto", "epsilon", ""},
                                                        {"uniform", "epsilon", ""},
                                                        {"typical", "epsilon", "delta"}}};

inline constexpr auto kRuleNames = [] {
  std::array<std::string_view, kRuleFields.size()> names;
  std::ranges::transform(kRuleFields, names.begin(), &RuleFields::rule);
  return names;
}();

}  // namespace slipstream
