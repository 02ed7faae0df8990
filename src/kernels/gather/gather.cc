#include "kernels/gather/gather.h"

#include <cstring>
#include <type_traits>

namespace sardonyx::kernels {
namespace {

// A number of bytes, known to the compiler where it is one of the usual ones.
template <int64_t kBytes>
using Bytes = std::integral_constant<int64_t, kBytes>;

template <class F>
auto with_size(int64_t bytes, F f) {
  switch (bytes) {
    case 1:
      return f(Bytes<1>());
    case 2:
      return f(Bytes<2>());
    case 4:
      return f(Bytes<4>());
    case 8:
      return f(Bytes<8>());
    case 16:
      return f(Bytes<16>());
    default:
      return f(bytes);
  }
}

// An index within [0, rows), or -1.
template <typename Index>
int64_t resolve(Index index, int64_t rows) {
  const int64_t at = static_cast<int64_t>(index) + (index < 0 ? rows : 0);
  return at >= 0 && at < rows ? at : -1;
}

template <typename Index>
int64_t gather(const void* in, int64_t rows, int64_t row_bytes, int64_t in_stride,
               const Index* indices, int64_t count, void* out, int64_t out_stride) {
  const char* source = static_cast<const char*>(in);
  char* target = static_cast<char*>(out);
  return with_size(row_bytes, [&](auto size) -> int64_t {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = resolve(indices[i], rows);
      if (row < 0) return i;
      std::memcpy(target + i * out_stride, source + row * in_stride, static_cast<size_t>(size));
    }
    return -1;
  });
}

struct Axis {
  int64_t dim, in_stride, out_stride;  // strides in bytes
};

// The two innermost axes: rows of elements.
template <class Size>
void copy_plane(Size size, const Axis& row, const Axis& element, const char* in, char* out) {
  for (int64_t i = 0; i < row.dim; ++i, in += row.in_stride, out += row.out_stride) {
    const char* from = in;
    char* to = out;
    for (int64_t j = 0; j < element.dim; ++j, from += element.in_stride, to += element.out_stride) {
      std::memcpy(to, from, static_cast<size_t>(size));
    }
  }
}

}  // namespace

int64_t gather_rows(const void* in, int64_t rows, int64_t row_bytes, int64_t in_stride_bytes,
                    const int64_t* indices, int64_t count, void* out, int64_t out_stride_bytes) {
  return gather(in, rows, row_bytes, in_stride_bytes, indices, count, out, out_stride_bytes);
}

int64_t gather_rows(const void* in, int64_t rows, int64_t row_bytes, int64_t in_stride_bytes,
                    const int32_t* indices, int64_t count, void* out, int64_t out_stride_bytes) {
  return gather(in, rows, row_bytes, in_stride_bytes, indices, count, out, out_stride_bytes);
}

int64_t scatter_rows(const void* in, int64_t row_bytes, int64_t in_stride_bytes,
                     const int64_t* indices, int64_t count, void* out, int64_t rows,
                     int64_t out_stride_bytes) {
  const char* source = static_cast<const char*>(in);
  char* target = static_cast<char*>(out);
  return with_size(row_bytes, [&](auto size) -> int64_t {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t row = resolve(indices[i], rows);
      if (row < 0) return i;
      std::memcpy(target + row * out_stride_bytes, source + i * in_stride_bytes,
                  static_cast<size_t>(size));
    }
    return -1;
  });
}

void copy_nd(int64_t element_size, int rank, const int64_t* shape, const int64_t* in_strides,
             const int64_t* out_strides, const void* in, void* out) {
  // Innermost first. An axis joins the one inside it where both strides continue; adjacent elements
  // become one larger element.
  Axis axes[kMaxCopyRank + 2];
  int count = 0;
  int64_t size = element_size;
  for (int i = rank; i-- > 0;) {
    if (shape[i] == 0) return;
    if (shape[i] == 1) continue;
    const Axis axis{shape[i], in_strides[i] * element_size, out_strides[i] * element_size};
    if (count == 0 && axis.in_stride == size && axis.out_stride == size) {
      size *= axis.dim;
    } else if (count > 0 && axis.in_stride == axes[count - 1].in_stride * axes[count - 1].dim &&
               axis.out_stride == axes[count - 1].out_stride * axes[count - 1].dim) {
      axes[count - 1].dim *= axis.dim;
    } else {
      axes[count++] = axis;
    }
  }
  while (count < 2) axes[count++] = {1, 0, 0};

  const char* source = static_cast<const char*>(in);
  char* target = static_cast<char*>(out);
  int64_t at[kMaxCopyRank + 2] = {};
  with_size(size, [&](auto known) {
    for (;;) {
      copy_plane(known, axes[1], axes[0], source, target);
      int axis = 2;
      for (; axis < count; ++axis) {
        source += axes[axis].in_stride;
        target += axes[axis].out_stride;
        if (++at[axis] < axes[axis].dim) break;
        source -= axes[axis].in_stride * axes[axis].dim;
        target -= axes[axis].out_stride * axes[axis].dim;
        at[axis] = 0;
      }
      if (axis == count) return;
    }
  });
}

}  // namespace sardonyx::kernels
