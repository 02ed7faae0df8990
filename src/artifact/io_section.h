// The section IO: what a Session shows of its model. Called by the writer and the reader of
// artifacts.
#pragma once

#include <cstddef>
#include <span>

#include "artifact/artifact.h"
#include "artifact/byte_writer.h"
#include "artifact/constant_table.h"
#include "artifact/program_decoder.h"

namespace sardonyx::artifact {

// Defaults of inputs join `constants`.
ByteWriter write_io(const CompiledPart& part, ConstantTable& constants);

// Fills inputs, outputs, defaults, metadata and warnings. Throws Error(kFail) when the bytes make
// no sense or do not fit the program.
void read_io(std::span<const std::byte> bytes, const ProgramDecoder& decoder, CompiledPart& part);

// Fills inputs and outputs only. Throws Error(kFail) when the bytes make no sense.
void read_infos(std::span<const std::byte> bytes, CompiledPart& part);

}  // namespace sardonyx::artifact
