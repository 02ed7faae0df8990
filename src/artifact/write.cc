#include <fmt/format.h>

#include <algorithm>

#include "artifact/artifact.h"
#include "artifact/head.h"
#include "artifact/io_section.h"
#include "artifact/manifest.h"
#include "artifact/program_encoder.h"
#include "artifact/shapes_section.h"
#include "base/staged_file.h"
#include "plan/verify_program.h"
#include "sardonyx/error.h"

namespace sardonyx::artifact {
namespace {

constexpr size_t kPieceBytes = size_t{4} << 20;  // between two looks at progress and cancel

void check(const CompiledPart& part) {
  verify(part.program);
  if (part.inputs.size() != part.program.inputs.size() ||
      part.outputs.size() != part.program.outputs.size() ||
      part.defaults.size() != part.inputs.size()) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("{} inputs, {} defaults and {} outputs are described, the program has "
                            "{} inputs and {} outputs",
                            part.inputs.size(), part.defaults.size(), part.outputs.size(),
                            part.program.inputs.size(), part.program.outputs.size()));
  }
  for (const std::vector<Shape>& shapes : part.shapes) {
    if (shapes.size() == part.inputs.size()) continue;
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("a set of {} shapes for {} inputs", shapes.size(), part.inputs.size()));
  }
}

}  // namespace

class ArtifactWriter::Impl {
 public:
  Impl(const CompiledPart& part, const Manifest& manifest, const WriteOptions& options)
      : options_(options), encoder_(part.program) {
    const ByteWriter io = write_io(part, encoder_.constants());
    head_.facets = part.facets;
    head_.facets.format_major = kFormatMajor;
    head_.facets.format_minor = kFormatMinor;
    add_section(SectionKind::kProgram, std::move(encoder_.program_section().buffer()));
    add_section(SectionKind::kIo, std::vector<std::byte>(io.view().begin(), io.view().end()));
    const auto debug = encoder_.debug_section().view();
    add_section(SectionKind::kDebug, {debug.begin(), debug.end()});
    if (!part.shapes.empty()) add_section(SectionKind::kShapes, write_shapes(part.shapes));
    add_weights();
    add_manifest(manifest);
    head_bytes_ = write_head(head_);
  }

  uint64_t size_bytes() const { return head_.total_bytes; }
  std::string identity() const { return identity_of(head_bytes_); }

  void write(const Sink& sink) {
    sink_ = &sink;
    emit(head_bytes_);
    for (size_t i = 0; i < head_.sections.size(); ++i) {
      pad_to(head_.sections[i].offset);
      if (head_.sections[i].kind == SectionKind::kWeights) {
        write_weights();
      } else {
        emit(contents_[i]);
      }
    }
  }

 private:
  void add_section(SectionKind kind, std::vector<std::byte> content) {
    head_.sections.push_back({kind, 0, content.size(), hash_of(content)});
    contents_.push_back(std::move(content));
  }

  // Calls `take` with the bytes of the section in order, `pad` zeros before each constant.
  template <typename Take>
  void for_each_weight(const Take& take) {
    uint64_t offset = 0;
    for (const Tensor& tensor : encoder_.constants().weights()) {
      const uint64_t start = align_up(offset, kConstantAlignment);
      take(start - offset,
           std::span(tensor.data<std::byte>(), static_cast<size_t>(tensor.size_bytes())));
      offset = start + static_cast<uint64_t>(tensor.size_bytes());
    }
  }

  void add_weights() {
    static constexpr std::array<std::byte, kConstantAlignment> kZeros{};
    Hasher hasher;
    for_each_weight([&](uint64_t pad, std::span<const std::byte> bytes) {
      check_cancelled();
      hasher.add(std::span(kZeros).first(pad));
      hasher.add(bytes);
    });
    head_.sections.push_back(
        {SectionKind::kWeights, 0, encoder_.constants().weights_bytes(), hasher.result()});
    contents_.emplace_back();
  }

  // Before the weights, so that all that is small lies together.
  void add_manifest(const Manifest& manifest) {
    const std::string json = manifest_json(manifest, head_);
    const auto bytes = std::as_bytes(std::span(json));
    add_section(SectionKind::kManifest, {bytes.begin(), bytes.end()});
    std::swap(head_.sections[head_.sections.size() - 2], head_.sections.back());
    std::swap(contents_[contents_.size() - 2], contents_.back());
  }

  void write_weights() {
    for_each_weight([&](uint64_t pad, std::span<const std::byte> bytes) {
      pad_to(written_ + pad);
      while (!bytes.empty()) {
        const size_t piece = std::min(bytes.size(), kPieceBytes);
        emit(bytes.first(piece));
        bytes = bytes.subspan(piece);
      }
    });
  }

  void emit(std::span<const std::byte> bytes) {
    check_cancelled();
    if (!bytes.empty()) (*sink_)(bytes);
    written_ += bytes.size();
    if (options_.progress) {
      options_.progress(static_cast<double>(written_) / static_cast<double>(head_.total_bytes));
    }
  }

  void pad_to(uint64_t offset) {
    static constexpr std::array<std::byte, kPageBytes> kZeros{};
    if (offset != written_) emit(std::span(kZeros).first(offset - written_));
  }

  void check_cancelled() const {
    if (options_.cancel != nullptr && options_.cancel->load(std::memory_order_relaxed)) {
      throw Error(ErrorCode::kModelLoadCanceled, "writing the compiled model was cancelled");
    }
  }

  const WriteOptions& options_;
  ProgramEncoder encoder_;
  Head head_;
  std::vector<std::byte> head_bytes_;
  std::vector<std::vector<std::byte>> contents_;  // by section; empty for the weights
  const Sink* sink_ = nullptr;
  uint64_t written_ = 0;
};

ArtifactWriter::ArtifactWriter(const CompiledPart& part, const Manifest& manifest,
                               const WriteOptions& options) {
  check(part);
  impl_ = std::make_unique<Impl>(part, manifest, options);
}

ArtifactWriter::~ArtifactWriter() = default;

uint64_t ArtifactWriter::size_bytes() const { return impl_->size_bytes(); }

std::string ArtifactWriter::identity() const { return impl_->identity(); }

void ArtifactWriter::write(const Sink& sink) { impl_->write(sink); }

uint64_t write_artifact(const CompiledPart& part, const Manifest& manifest, const Sink& sink,
                        const WriteOptions& options) {
  ArtifactWriter writer(part, manifest, options);
  writer.write(sink);
  return writer.size_bytes();
}

uint64_t write_artifact(const CompiledPart& part, const Manifest& manifest, const std::string& path,
                        const WriteOptions& options) {
  StagedFile file(path);
  const uint64_t size = write_artifact(
      part, manifest, [&](std::span<const std::byte> bytes) { file.write(bytes); }, options);
  file.publish();
  return size;
}

}  // namespace sardonyx::artifact
