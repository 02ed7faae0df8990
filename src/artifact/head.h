// Head: the first page of an artifact (more, for very many kernel rows): superblock, section table,
// facets. All that a verdict needs. Called by the writer and the readers of this module.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "artifact/facets.h"
#include "artifact/format.h"
#include "artifact/hash.h"

namespace sardonyx::artifact {

struct Section {
  SectionKind kind = SectionKind::kProgram;
  uint64_t offset = 0;
  uint64_t size = 0;
  Hash128 hash = {};
};

struct Head {
  Facets facets;
  uint64_t total_bytes = 0;
  uint64_t head_bytes = 0;
  std::vector<Section> sections;  // in the order of the file

  const Section* find(SectionKind kind) const;
};

// Sizes, kinds and hashes are given; offsets and totals are set. Throws Error(kInvalidGraph) when
// the facets are too many.
std::vector<std::byte> write_head(Head& head);

// `start`: at least the head of a file of `total_bytes`. Throws Error as readers do
// (artifact/artifact.h). Of another major format only the version is set.
Head read_head(std::span<const std::byte> start, uint64_t total_bytes);

const char* name_of(SectionKind kind);  // "program", ..., "unknown"

}  // namespace sardonyx::artifact
