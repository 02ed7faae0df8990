// Artifact: a compiled model as a file. Data only, never code or pointers: the Program, its
// constants, what a Session shows of the model, names for messages, and a manifest for people. The
// format is docs/artifact.md. Writing is deterministic and needs no second copy of the weights;
// reading maps them: constants point into the file and keep it mapped. Called by session (load,
// compile), cache and the command line. No policy here, no directories.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "artifact/facets.h"
#include "plan/program.h"
#include "sardonyx/session.h"

namespace sardonyx::artifact {

// Everything a Session needs, without the source model.
struct CompiledPart {
  Program program;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<Tensor> defaults;  // per input; undefined when the input must be given
  ModelMetadata metadata;
  std::vector<std::string> warnings;  // what was odd about the model but accepted
  Facets facets;
  // Input shapes to prepare for: in each set one per input, of any rank the model accepts.
  std::vector<std::vector<Shape>> shapes;

  // Set by read_artifact: the whole artifact, for verify_artifact() and UncheckedWeights, and what
  // keeps it alive.
  std::span<const std::byte> image;
  std::shared_ptr<const void> owner;
};

// For people and for `explain`; no verdict and no result depends on it. What the artifact says
// itself (facets, sizes of sections) is added when it is written.
struct Manifest {
  std::string producer;                        // "sardonyx 0.1.0"
  std::string source_file;                     // name of the model file; "" from memory
  std::string source_hash;                     // "blake2b:..."
  std::map<std::string, std::string> options;  // those that differ from their defaults
  // Anything else: times, the verification record. A time makes each file another one.
  std::map<std::string, std::string> notes;
};

struct WriteOptions {
  // Called with the fraction done in [0, 1].
  std::function<void(double done)> progress;
  const std::atomic<bool>* cancel = nullptr;
};

// Receives the bytes from first to last; may throw.
using Sink = std::function<void(std::span<const std::byte>)>;

// An artifact that is about to be written, for those who must know its size before.
class ArtifactWriter {
 public:
  // All arguments must outlive it. Reads the weights once, for their hash. Throws Error:
  // kInvalidGraph for a Program that is not well formed or holds what the format has no place for
  // (names of more than 255 bytes, more than 255 dimensions), kModelLoadCanceled.
  ArtifactWriter(const CompiledPart& part, const Manifest& manifest, const WriteOptions& options);
  ~ArtifactWriter();
  ArtifactWriter(const ArtifactWriter&) = delete;
  ArtifactWriter& operator=(const ArtifactWriter&) = delete;

  uint64_t size_bytes() const;
  std::string identity() const;  // see identity_of()
  // Once. Throws what the sink throws, and kModelLoadCanceled.
  void write(const Sink& sink);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Writes the artifact and returns its size in bytes. Throws as ArtifactWriter does.
uint64_t write_artifact(const CompiledPart& part, const Manifest& manifest, const Sink& sink,
                        const WriteOptions& options = {});

// The same into a file, which appears whole or not at all. Also throws Error(kFail) naming the
// path.
uint64_t write_artifact(const CompiledPart& part, const Manifest& manifest, const std::string& path,
                        const WriteOptions& options = {});

// Does it start like an artifact? For telling it from an ONNX file.
bool is_artifact(std::span<const std::byte> start);

struct ReadOptions {
  // Check the weights' hash before returning. Without it they are not even read: damage to them
  // is found by verify_artifact() or shows as wrong numbers, never as a crash.
  bool verify_weights = false;
  // Read the names of buffers and steps, which messages and profiles use.
  bool names = true;
};

// Errors of all readers: kInvalidArgument when the bytes are no artifact, kNotImplemented for
// another major format, kFail when they are damaged or cut off; the messages say which part.
//
// The Program is well formed (every buffer has one definition before its uses, all numbers are in
// range), but whether its steps fit their operators is for the caller to check.
CompiledPart read_artifact(const std::string& path, const ReadOptions& options = {});
// From memory that `owner` keeps alive. Constants point into it when it is aligned to 64 bytes;
// else all of it is copied once.
CompiledPart read_artifact(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                           const ReadOptions& options = {});

// The part as others see it: facets, inputs and outputs, which its Program has and nothing else,
// their types without shapes. Reads the head and the section IO. Defaults are undefined.
CompiledPart read_interface(std::span<const std::byte> bytes);

// What a verdict needs, from the first page (few, for very many kernel rows). Of another major
// format only the version is read, and nothing is thrown. `start` is the first 64 KiB or all of an
// artifact of `size_bytes`.
Facets read_facets(std::span<const std::byte> start, uint64_t size_bytes);

// What tells an artifact from all others: the hash of its head, which holds the hashes of all its
// sections, as 32 hexadecimal digits. `start` is one that read_facets() found to be of this format.
std::string identity_of(std::span<const std::byte> start);

// The manifest as JSON text.
std::string read_manifest(const std::string& path);
std::string read_manifest(std::span<const std::byte> bytes);

// Checks every byte: all hashes, and that padding is zero. Throws Error(kFail) naming the section.
// Takes the time to read the artifact once; for background checks, `cancel` ends it early (false).
bool verify_artifact(std::span<const std::byte> bytes, const std::atomic<bool>* cancel = nullptr);

struct SectionInfo {
  std::string name;  // "program", "weights", ...
  uint64_t offset = 0;
  uint64_t size_bytes = 0;
  std::array<uint8_t, 16> hash = {};  // XXH3-128, canonical byte order
};

// The weights of an artifact that was read without verify_weights, for a check at leisure. Keeps
// nothing mapped: of a file it knows the head, which holds all hashes, and reads the rest again.
class UncheckedWeights {
 public:
  // An artifact that lies at `offset` of the file at `path`.
  UncheckedWeights(const CompiledPart& part, std::string path, uint64_t offset = 0);
  // One in memory.
  explicit UncheckedWeights(const CompiledPart& part);

  const std::string& path() const { return path_; }  // "" in memory

  // Throws Error(kFail) when the weights are damaged, cut off or cannot be read. False when
  // cancelled, or when the path names nothing or another artifact by now.
  bool check(const std::atomic<bool>& cancel) const;

 private:
  std::string path_;
  uint64_t file_offset_ = 0;
  std::vector<std::byte> head_;
  std::span<const std::byte> image_;
  std::shared_ptr<const void> owner_;
  SectionInfo weights_;
};

std::vector<SectionInfo> list_sections(std::span<const std::byte> bytes);

}  // namespace sardonyx::artifact
