#include "common/messages/shown_names.h"

#include "common/base/printable.h"

namespace slipstream {
namespace {

Result<void> check_printable(std::string_view what, std::string_view text) {
  if (is_printable(text)) return {};
  return fail("{} has a line break or another character that cannot be shown: use printable characters", what);
}

Result<void> check_name(std::string_view what, std::string_view name) {
  if (name.size() > kShownNameBytesMax) {
    return fail("{} has {} bytes: use a name of at most {}", what, name.size(), kShownNameBytesMax);
  }
  return check_printable(what, name);
}

}  // namespace

Result<void> check_method_name(std::string_view method) {
  TRY_VOID(check_name("the name of a draft method", method));
  if (!method.starts_with(kResidentPrefix) && method != kHeadMethod && method != kGrammarMethod && method != kOtherMethods) {
    return {};
  }
  return fail(
      "a draft method has a name under which verifiers count their own drafts ({}, {}, {}, or one that begins with {}): give "
      "it another",
      kHeadMethod, kGrammarMethod, kOtherMethods, kResidentPrefix);
}

Result<void> check_model_name(std::string_view model) { return check_name("the name of the draft model", model); }

Result<void> check_names(const Hello& hello) {
  for (const std::string& method : hello.methods) TRY_VOID(check_method_name(method));
  TRY_VOID(check_model_name(hello.draft_model));
  TRY_VOID(check_name("the name of the numerics", hello.numerics_id));
  TRY_VOID(check_printable("the draft endpoint", hello.draft_endpoint));
  return check_printable("the metrics endpoint", hello.metrics_endpoint);
}

Result<void> check_names(const Attached& attached) {
  TRY_VOID(check_method_name(attached.method));
  return check_model_name(attached.model);
}

}  // namespace slipstream
