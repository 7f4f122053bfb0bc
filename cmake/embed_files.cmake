# Writes a .cpp that holds the contents of files, for cmake -P at build time.
#
#   cmake -DOUT=files.cpp -DHEADER=its/header.h -DFUNCTION=ui_files -DFILES=a.html|b.css -P embed_files.cmake
#
# The header declares `struct EmbeddedFile { std::string_view name, content; }` and the function,
# which returns a span of them. A file's name is the one that it has in its folder.
string(REPLACE "|" ";" files "${FILES}")
set(arrays "")
set(entries "")
set(number 0)
foreach(file IN LISTS files)
  get_filename_component(name "${file}" NAME)
  file(READ "${file}" hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND arrays "constexpr char kBytes${number}[] = {${bytes}'\\0'};\n")
  string(APPEND entries "    {\"${name}\", {kBytes${number}, sizeof kBytes${number} - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUT}" "#include \"${HEADER}\"

namespace slipstream {
namespace {

${arrays}
constexpr EmbeddedFile kFiles[] = {
${entries}};

}  // namespace

std::span<const EmbeddedFile> ${FUNCTION}() { return kFiles; }

}  // namespace slipstream
")
