#include "common/text/chat_template.h"

#include "common/text/read_file.h"
#include "common/text/rust_bridge.h"

namespace slipstream {

struct ChatTemplate::Handle {
  explicit Handle(SlipstreamTemplate* loaded) : rust(loaded) {}
  ~Handle() { slipstream_template_free(rust); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  SlipstreamTemplate* rust;
};

namespace {

Result<std::string> read_if_there(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return std::string();
  return read_file(path);
}

}  // namespace

Result<ChatTemplate> ChatTemplate::load(const std::filesystem::path& model_folder) {
  TRY(const std::string jinja, read_if_there(model_folder / "chat_template.jinja"));
  TRY(const std::string config, read_if_there(model_folder / "tokenizer_config.json"));
  return parse(jinja, config, model_folder.string());
}

Result<ChatTemplate> ChatTemplate::parse(std::string_view jinja, std::string_view tokenizer_config, const std::string& what) {
  SlipstreamBytes error;
  SlipstreamTemplate* rust = slipstream_template_load(slice_of(jinja), slice_of(tokenizer_config), &error);
  if (rust == nullptr) return fail("{}: {}", what, taken(error));
  return ChatTemplate(std::make_shared<const Handle>(rust));
}

Result<std::string> ChatTemplate::render(std::span<const ChatMessage> messages, std::chrono::system_clock::time_point now,
                                         const ChatExtras& extras) const {
  std::vector<SlipstreamTurn> turns;
  turns.reserve(messages.size());
  for (const ChatMessage& message : messages) {
    turns.push_back({slice_of(message.role), slice_of(message.content), slice_of(message.more)});
  }
  SlipstreamBytes text;
  SlipstreamBytes error;
  const SlipstreamExtras beside{slice_of(extras.tools), slice_of(extras.variables), extras.add_generation_prompt,
                                static_cast<int64_t>(std::chrono::system_clock::to_time_t(now))};
  if (!slipstream_template_render(handle_->rust, turns.data(), turns.size(), &beside, &text, &error)) {
    return std::unexpected(Error{taken(error)});
  }
  return taken(text);
}

bool ChatTemplate::reads(std::string_view variable) const {
  return slipstream_template_reads(handle_->rust, slice_of(variable));
}

std::string_view ChatTemplate::source() const { return view_of(slipstream_template_source(handle_->rust)); }

}  // namespace slipstream
