#include "common/checkpoint/safetensors.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>

#include "common/checkpoint/json_file.h"

namespace slipstream {
namespace {

constexpr std::string_view kLfsPointer = "version https://git-lfs";
constexpr size_t kLengthBytes = 8;  // the header's own length, little-endian

std::optional<size_t> element_bytes(std::string_view dtype) {
  static constexpr std::pair<std::string_view, size_t> kSizes[] = {
      {"F64", 8}, {"I64", 8}, {"U64", 8}, {"F32", 4}, {"I32", 4},  {"U32", 4},     {"F16", 2},     {"BF16", 2},
      {"I16", 2}, {"U16", 2}, {"I8", 1},  {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1},
  };
  for (const auto& [known, bytes] : kSizes) {
    if (known == dtype) return bytes;
  }
  return std::nullopt;
}

struct Range {
  uint64_t begin = 0, end = 0;  // bytes from the start of the data
};

// Reads the shape of a tensor, and returns its size in bytes. element: bytes of one number.
Result<uint64_t> read_shape(simdjson::dom::element json, size_t element, std::vector<int64_t>& shape) {
  simdjson::dom::array dimensions;
  if (json.get_array().get(dimensions) != simdjson::SUCCESS) return fail("its shape is no array");
  if (dimensions.size() > kTensorRankMax)
    return fail("it has {} dimensions, the limit is {}", dimensions.size(), kTensorRankMax);
  uint64_t bytes = element;
  for (const simdjson::dom::element dimension : dimensions) {
    int64_t size = 0;
    if (dimension.get_int64().get(size) != simdjson::SUCCESS || size < 0) return fail("its shape holds no plain sizes");
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes)) return fail("its shape overflows");
    shape.push_back(size);
  }
  return bytes;
}

Result<Range> read_range(simdjson::dom::element json, uint64_t data_bytes) {
  simdjson::dom::array offsets;
  Range range;
  if (json.get_array().get(offsets) != simdjson::SUCCESS || offsets.size() != 2 ||
      offsets.at(0).get_uint64().get(range.begin) != simdjson::SUCCESS ||
      offsets.at(1).get_uint64().get(range.end) != simdjson::SUCCESS) {
    return fail("its data_offsets are not two plain numbers");
  }
  if (range.begin > range.end) return fail("its data_offsets run backwards");
  if (range.end > data_bytes) {
    return fail("its data ends at byte {} of {}: the file is truncated, copy or download it again", range.end, data_bytes);
  }
  return range;
}

struct Entry {
  std::string name;
  TensorEntry tensor;
  Range range;
};

Result<Entry> read_entry(std::string_view name, simdjson::dom::element json, std::span<const std::byte> data) {
  simdjson::dom::object object;
  if (json.get_object().get(object) != simdjson::SUCCESS) return fail("its description is no object");
  const JsonFields fields(object, "its description");
  Entry entry{.name = std::string(name), .tensor = {}, .range = {}};
  TRY(entry.tensor.dtype, fields.string("dtype"));
  const auto element = element_bytes(entry.tensor.dtype);
  if (!element) return fail("its dtype {:.32} is unknown", entry.tensor.dtype);
  TRY(const auto shape, fields.element("shape"));
  TRY(const uint64_t bytes, read_shape(shape, *element, entry.tensor.shape));
  TRY(const auto offsets, fields.element("data_offsets"));
  TRY(entry.range, read_range(offsets, data.size()));
  if (entry.range.end - entry.range.begin != bytes) {
    return fail("its shape takes {} bytes, its data_offsets span {}", bytes, entry.range.end - entry.range.begin);
  }
  entry.tensor.bytes = data.subspan(entry.range.begin, bytes);
  return entry;
}

// The tensors must cover the data from end to end. The format demands it: bytes that belong to no
// tensor could hide other content, and an overlap means that the header is wrong.
Result<void> check_cover(std::vector<Entry>& entries, uint64_t data_bytes) {
  std::ranges::sort(entries, {}, [](const Entry& entry) { return std::pair(entry.range.begin, entry.range.end); });
  uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.range.begin != covered) {
      return fail("tensor {:.100} {} the one before it", entry.name,
                  entry.range.begin < covered ? "overlaps" : "leaves a hole after");
    }
    covered = entry.range.end;
  }
  if (covered != data_bytes) return fail("{} bytes behind the last tensor belong to none", data_bytes - covered);
  return {};
}

using Metadata = std::map<std::string, std::string, std::less<>>;

Metadata read_metadata(simdjson::dom::element json) {
  Metadata metadata;
  simdjson::dom::object object;
  if (json.get_object().get(object) != simdjson::SUCCESS) return metadata;
  for (const auto& [name, value] : object) {
    std::string_view text;
    if (value.get_string().get(text) == simdjson::SUCCESS) metadata.emplace(name, text);
  }
  return metadata;
}

Result<std::vector<Entry>> read_header(std::span<const std::byte> file, Metadata& metadata) {
  if (file.size() < kLengthBytes) return fail("{} bytes are too few for a safetensors file", file.size());
  uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (std::string_view(reinterpret_cast<const char*>(file.data()), file.size()).starts_with(kLfsPointer)) {
    return fail("it is a pointer to a file in Git LFS, which was not fetched: `git lfs pull` does");
  }
  if (length > kSafetensorsHeaderBytesMax) {
    return fail("its header claims {} bytes, the limit is {}: this is no safetensors file", length, kSafetensorsHeaderBytesMax);
  }
  if (length > file.size() - kLengthBytes) {
    return fail("its header claims {} bytes, the file has {}: it is truncated, copy or download it again", length, file.size());
  }
  TRY(const JsonText json, parse_json_object(file.subspan(kLengthBytes, length), "its header"));
  const auto data = file.subspan(kLengthBytes + length);
  std::vector<Entry> entries;
  std::set<std::string, std::less<>> names;
  for (const auto& [name, description] : json.root) {
    if (name == "__metadata__") {
      metadata = read_metadata(description);
      continue;
    }
    // JSON allows a key twice, and readers differ in which one they take.
    if (!names.emplace(name).second) return fail("tensor {:.100} is named twice", name);
    auto entry = read_entry(name, description, data);
    if (!entry) return fail("tensor {:.100}: {}", name, entry.error().message);
    entries.push_back(*std::move(entry));
  }
  TRY_VOID(check_cover(entries, data.size()));
  return entries;
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  TRY(MappedFile mapped, MappedFile::open(path));
  SafetensorsFile file(std::move(mapped));
  auto entries = read_header(file.file_.bytes(), file.metadata_);
  if (!entries) return fail("{}: {}", path.string(), entries.error().message);
  for (Entry& entry : *entries) file.tensors_.emplace(std::move(entry.name), std::move(entry.tensor));
  return file;
}

Result<std::vector<std::filesystem::path>> weight_files(const std::filesystem::path& folder) {
  const auto single = folder / "model.safetensors", index = folder / "model.safetensors.index.json";
  std::error_code ignored;
  if (std::filesystem::exists(single, ignored)) return std::vector{single};
  if (!std::filesystem::exists(index, ignored)) {
    return fail("{} holds neither model.safetensors nor model.safetensors.index.json: pass a Hugging Face model folder",
                folder.string());
  }
  TRY(const MappedFile file, MappedFile::open(index));
  if (file.bytes().size() > kSafetensorsHeaderBytesMax)
    return fail("{} is over {} bytes", index.string(), kSafetensorsHeaderBytesMax);
  TRY(const JsonText json, parse_json_object(file.bytes(), index.string()));
  TRY(const auto element, JsonFields(json.root, index.string()).element("weight_map"));
  simdjson::dom::object map;
  if (element.get_object().get(map) != simdjson::SUCCESS) return fail("{}: \"weight_map\" must be an object", index.string());
  // A name must stay inside the folder, so it has no slash; and a NUL would end it early.
  std::set<std::string> names;
  for (const auto& [tensor, shard] : map) {
    std::string_view name;
    if (shard.get_string().get(name) != simdjson::SUCCESS) return fail("{}: a file name is no string", index.string());
    if (!name.ends_with(".safetensors") || name.find('/') != name.npos || name.find('\0') != name.npos) {
      return fail("{}: {:.100} is no plain *.safetensors file name", index.string(), name);
    }
    names.emplace(name);
  }
  if (names.empty() || names.size() > kShardsMax)
    return fail("{} names {} files, supported are 1 to {}", index.string(), names.size(), kShardsMax);
  std::vector<std::filesystem::path> files;
  for (const std::string& name : names) files.push_back(folder / name);
  return files;
}

}  // namespace slipstream
