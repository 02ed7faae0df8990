// Segments: one tensor seen as rows, each made of the rows of several others one after another.
// Concat writes such a tensor, Split reads it.
#pragma once

#include "ops/shape/strided_copy.h"

namespace sardonyx {

struct Segments {
  int64_t rows = 1;
  int64_t row = 0;                  // elements of a row of the whole
  SmallVector<int64_t, 8> starts;   // of each segment in a row, and the end
  SmallVector<size_t, 8> operands;  // which input or output a segment is

  // Calls body(operand, offset in it, offset in the whole, count) for whole elements in `part`.
  template <typename Body>
  void run(Range part, Body&& body) const {
    if (part.begin >= part.end) return;
    int64_t at_row = part.begin / row;
    int64_t column = part.begin % row;
    size_t segment = 0;
    while (starts[segment + 1] <= column) ++segment;
    for (int64_t at = part.begin; at < part.end;) {
      const int64_t n = std::min(starts[segment + 1] - column, part.end - at);
      const int64_t width = starts[segment + 1] - starts[segment];
      if (n > 0) {
        body(operands[segment], at_row * width + column - starts[segment], at, n);
      }
      at += n;
      column += n;
      if (column == starts[segment + 1] && ++segment == operands.size()) {
        segment = 0;
        column = 0;
        ++at_row;
      }
    }
  }
};

// `widths` are the sizes of the parts along `axis`; `operands[i]` names part i.
inline Segments plan_segments(const Shape& whole, size_t axis, std::span<const int64_t> widths,
                              std::span<const size_t> operands) {
  Segments segments;
  segments.rows = element_count(whole, 0, axis);
  const int64_t inner = element_count(whole, axis + 1, whole.size());
  segments.starts.push_back(0);
  for (size_t i = 0; i < widths.size(); ++i) {
    segments.row += widths[i] * inner;
    segments.starts.push_back(segments.row);
    segments.operands.push_back(operands[i]);
  }
  return segments;
}

}  // namespace sardonyx
