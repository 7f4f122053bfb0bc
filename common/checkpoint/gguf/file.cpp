#include "common/checkpoint/gguf/file.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace slipstream {
namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"

struct GgmlType {
  uint32_t number;
  std::string_view name;
  std::optional<Dtype> dtype;  // nullopt: not supported, and listed to name it in an error
};
constexpr GgmlType kTypes[] = {
    {0, "F32", Dtype::f32},
    {1, "F16", Dtype::f16},
    {2, "Q4_0", Dtype::q4_0},
    {3, "Q4_1", Dtype::q4_1},
    {6, "Q5_0", Dtype::q5_0},
    {7, "Q5_1", Dtype::q5_1},
    {8, "Q8_0", Dtype::q8_0},
    {9, "Q8_1", {}},
    {10, "Q2_K", Dtype::q2_k},
    {11, "Q3_K", Dtype::q3_k},
    {12, "Q4_K", Dtype::q4_k},
    {13, "Q5_K", Dtype::q5_k},
    {14, "Q6_K", Dtype::q6_k},
    {15, "Q8_K", {}},
    {16, "IQ2_XXS", {}},
    {17, "IQ2_XS", {}},
    {18, "IQ3_XXS", {}},
    {19, "IQ1_S", {}},
    {20, "IQ4_NL", Dtype::iq4_nl},
    {21, "IQ3_S", {}},
    {22, "IQ2_S", {}},
    {23, "IQ4_XS", Dtype::iq4_xs},
    {24, "I8", {}},
    {25, "I16", {}},
    {26, "I32", {}},
    {27, "I64", {}},
    {28, "F64", {}},
    {29, "IQ1_M", {}},
    {30, "BF16", Dtype::bf16},
    {34, "TQ1_0", {}},
    {35, "TQ2_0", {}},
    {39, "MXFP4", {}},
};

Result<Dtype> read_dtype(GgufCursor& cursor) {
  TRY(const auto number, cursor.number<uint32_t>());
  const auto* const type = std::ranges::find(kTypes, number, &GgmlType::number);
  if (type != std::end(kTypes) && type->dtype) return *type->dtype;
  return fail(
      "its type is {}, and supported are F32, F16, BF16, Q8_0, Q4_0 to Q5_1, Q2_K to Q6_K, IQ4_NL and IQ4_XS: take the "
      "model in one of these, or convert it with `llama-quantize --allow-requantize IN.gguf OUT.gguf Q8_0`",
      type != std::end(kTypes) ? std::string(type->name) : fmt::format("number {}, which nobody knew yet", number));
}

struct Entry {
  std::string_view name;
  GgufTensor tensor;
  uint64_t begin = 0, size = 0;  // bytes; begin: from the start of the data
};

// The size in bytes of a tensor of this type and shape.
Result<uint64_t> size_of(const GgufTensor& tensor) {
  const StoredBlock block = block_of(tensor.dtype);
  if (tensor.shape.back() % block.numbers != 0) {
    return fail("its rows of {} numbers are no whole blocks of {}", tensor.shape.back(), block.numbers);
  }
  uint64_t bytes = block.bytes;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const int64_t along = i + 1 == tensor.shape.size() ? tensor.shape[i] / block.numbers : tensor.shape[i];
    if (__builtin_mul_overflow(bytes, static_cast<uint64_t>(along), &bytes)) return fail("its shape overflows");
  }
  return bytes;
}

Result<void> read_description(GgufCursor& cursor, Entry& entry, uint64_t alignment) {
  TRY(const auto rank, cursor.number<uint32_t>());
  if (rank < 1 || rank > kGgufRankMax) return fail("it has {} dimensions, supported are 1 to {}", rank, kGgufRankMax);
  for (uint32_t i = 0; i < rank; ++i) {
    TRY(const auto size, cursor.number<uint64_t>());
    if (size < 1 || size > INT64_MAX) return fail("its shape holds {}, which is no size", size);
    entry.tensor.shape.insert(entry.tensor.shape.begin(), static_cast<int64_t>(size));
  }
  TRY(entry.tensor.dtype, read_dtype(cursor));
  TRY(entry.begin, cursor.number<uint64_t>());
  if (entry.begin % alignment != 0) return fail("it begins at byte {}, which is no multiple of {}", entry.begin, alignment);
  TRY(entry.size, size_of(entry.tensor));
  return {};
}

Result<Entry> read_entry(GgufCursor& cursor, uint64_t alignment) {
  Entry entry;
  TRY(entry.name, cursor.text(kGgufNameBytesMax));
  auto described = read_description(cursor, entry, alignment);
  if (!described) return fail("tensor {:.100}: {}", entry.name, described.error().message);
  return entry;
}

Result<uint64_t> read_alignment(const GgufFields& fields) {
  if (!fields.has("general.alignment")) return kGgufAlignmentDefault;
  TRY(const int64_t alignment, fields.integer("general.alignment", 1, kGgufAlignmentMax));
  if (!std::has_single_bit(static_cast<uint64_t>(alignment))) {
    return fail("general.alignment is {}, which is no power of two", alignment);
  }
  return static_cast<uint64_t>(alignment);
}

// Checks that the tensors lie inside the data and do not overlap, and gives them their bytes. Bytes
// between two tensors are padding.
Result<void> place(std::vector<Entry>& entries, std::span<const std::byte> data) {
  std::ranges::sort(entries, {}, &Entry::begin);
  uint64_t covered = 0;
  for (Entry& entry : entries) {
    if (entry.begin < covered) return fail("tensor {:.100} overlaps the one before it", entry.name);
    if (entry.begin > data.size() || entry.size > data.size() - entry.begin) {
      return fail(
          "tensor {:.100} needs {} bytes from byte {} of the data, which has {}: the file is truncated, copy or download "
          "it again",
          entry.name, entry.size, entry.begin, data.size());
    }
    entry.tensor.bytes = data.subspan(entry.begin, entry.size);
    covered = entry.begin + entry.size;
  }
  return {};
}

Result<void> check_start(GgufCursor& cursor) {
  TRY(const auto magic, cursor.number<uint32_t>());
  if (magic != kMagic) return fail("it does not begin with \"GGUF\": give a GGUF file or a Hugging Face model folder");
  TRY(const auto version, cursor.number<uint32_t>());
  if (version == 2 || version == 3) return {};
  // A version number in the upper bytes: the file was written with the other byte order.
  if ((version & 0xFFFF) == 0) return fail("it is big-endian: take the little-endian file of this model");
  return fail("it is of GGUF version {}, supported are 2 and 3: convert the model again with a current converter", version);
}

}  // namespace

bool is_model_file(const std::filesystem::path& model) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(model, ignored);
}

Result<GgufFile> GgufFile::open(const std::filesystem::path& path) {
  TRY(MappedFile mapped, MappedFile::open(path));
  GgufFile file(std::move(mapped));
  auto read = file.read();
  if (!read) return fail("{}: {}", path.string(), read.error().message);
  file.fields_.set_what(path.string());  // after read(), whose errors get the path in the line above
  return file;
}

Result<void> GgufFile::read() {
  GgufCursor cursor(file_.bytes());
  TRY_VOID(check_start(cursor));
  TRY(const auto tensors, cursor.number<uint64_t>());
  TRY(const auto fields, cursor.number<uint64_t>());
  if (tensors > kGgufTensorsMax) return fail("it claims {} tensors, the limit is {}", tensors, kGgufTensorsMax);
  TRY(fields_, GgufFields::read(cursor, fields));
  if (fields_.has("split.count")) {
    TRY(const int64_t parts, fields_.integer("split.count", 0, UINT16_MAX));
    if (parts > 1) return fail("it is one of {} parts of a model: put them together with `llama-gguf-split --merge`", parts);
  }
  TRY(const uint64_t alignment, read_alignment(fields_));
  std::vector<Entry> entries;
  for (uint64_t i = 0; i < tensors; ++i) {
    TRY(Entry entry, read_entry(cursor, alignment));
    entries.push_back(std::move(entry));
  }
  // The data begins at the next multiple of the alignment. A file without tensors may end before
  // it.
  const uint64_t padding = (alignment - cursor.at() % alignment) % alignment;
  if (!entries.empty()) {
    TRY_VOID(cursor.take(padding));
  }
  TRY_VOID(place(entries, file_.bytes().subspan(cursor.at())));
  for (Entry& entry : entries) {
    if (!tensors_.emplace(entry.name, std::move(entry.tensor)).second) return fail("tensor {:.100} is there twice", entry.name);
  }
  return {};
}

}  // namespace slipstream
