#include <fmt/format.h>

#include <algorithm>

#include "artifact/artifact.h"
#include "artifact/head.h"
#include "base/mapped_file.h"
#include "sardonyx/error.h"

namespace sardonyx::artifact {
namespace {

using Bytes = std::span<const std::byte>;

[[noreturn]] void fail(const char* what) {
  throw Error(
      ErrorCode::kFail,
      fmt::format("compiled model is damaged: section weights: {}; compile the model again", what));
}

// Null when there is no such file.
std::unique_ptr<const FileReader> open_if_there(const std::string& path) {
  try {
    return std::make_unique<const FileReader>(path);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

UncheckedWeights::UncheckedWeights(const CompiledPart& part) : UncheckedWeights(part, "") {
  image_ = part.image;
  owner_ = part.owner;
}

UncheckedWeights::UncheckedWeights(const CompiledPart& part, std::string path, uint64_t offset)
    : path_(std::move(path)), file_offset_(offset) {
  const Head head = read_head(part.image, part.image.size());
  if (const Section* found = head.find(SectionKind::kWeights)) {
    weights_ = {name_of(found->kind), found->offset, found->size, found->hash};
  }
  if (path_.empty()) return;
  const Bytes start = part.image.first(head.head_bytes);
  head_.assign(start.begin(), start.end());
}

bool UncheckedWeights::check(const std::atomic<bool>& cancel) const {
  if (weights_.size_bytes == 0) return true;
  std::unique_ptr<const FileReader> file;
  std::vector<std::byte> buffer;
  if (!path_.empty()) {
    file = open_if_there(path_);
    if (file == nullptr) return false;
    buffer.resize(std::max(head_.size(), kHashPieceBytes));
    const std::span<std::byte> start = std::span(buffer).first(head_.size());
    if (file->read(file_offset_, start) != start.size() || !std::ranges::equal(start, head_)) {
      return false;  // another file by now
    }
  }
  const std::optional<Hash128> hash =
      hash_of_pieces(weights_.size_bytes, &cancel, [&](uint64_t offset, size_t size) -> Bytes {
        const uint64_t at = weights_.offset + offset;
        if (file == nullptr) return image_.subspan(at, size);
        const std::span<std::byte> piece = std::span(buffer).first(size);
        if (file->read(file_offset_ + at, piece) != size) fail("the file has become shorter");
        return piece;
      });
  if (hash && *hash != weights_.hash) fail("its hash does not agree");
  return hash.has_value();
}

}  // namespace sardonyx::artifact
