#include "artifact/shapes_section.h"

#include <algorithm>

#include "artifact/byte_reader.h"
#include "artifact/byte_writer.h"

namespace sardonyx::artifact {

std::vector<std::byte> write_shapes(const std::vector<std::vector<Shape>>& sets) {
  ByteWriter out;
  out.put_count(sets.size());
  for (const std::vector<Shape>& shapes : sets) {
    for (const Shape& shape : shapes) {
      out.put_count(shape.size());
      for (int64_t dim : shape) out.put(dim);
    }
  }
  return std::move(out.buffer());
}

std::vector<std::vector<Shape>> read_shapes(std::span<const std::byte> bytes, size_t inputs) {
  ByteReader in(bytes, "shapes");
  std::vector<std::vector<Shape>> sets(in.count(std::max<size_t>(1, inputs * sizeof(uint32_t))));
  for (std::vector<Shape>& shapes : sets) {
    for (size_t i = 0; i < inputs; ++i) {
      Shape shape;
      for (uint32_t rank = in.count(sizeof(int64_t)); rank > 0; --rank) {
        shape.push_back(in.get<int64_t>());
        if (shape.back() < 0) in.fail("a negative dimension");
      }
      shapes.push_back(std::move(shape));
    }
  }
  in.expect_end();
  return sets;
}

}  // namespace sardonyx::artifact
