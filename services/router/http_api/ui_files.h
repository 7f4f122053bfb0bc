// The files of the web page at /ui (services/router/ui), as the build put them into this program
// (cmake/embed_files.cmake).
#pragma once

#include <span>
#include <string_view>

namespace slipstream {

struct EmbeddedFile {
  std::string_view name;  // "app.js"
  std::string_view content;
};

std::span<const EmbeddedFile> ui_files();  // of static storage

}  // namespace slipstream
