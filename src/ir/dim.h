// Dim: one dimension (or one element of a small integer tensor) as seen before a model runs: a
// known integer, an expression over named symbols (batch, H/4, past+1), or unknown. Expressions are
// hash-consed in a DimTable, so equal expressions have equal ids and `==` on Dims means "proven
// equal" (two unknowns are never proven equal: use proven_equal).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/small_vector.h"
#include "tensor/shape.h"

namespace sardonyx {

struct Dim {
  static constexpr int32_t kKnown = -1;
  static constexpr int32_t kUnknown = -2;

  int64_t value = 0;        // when known
  int32_t expr = kUnknown;  // kKnown, kUnknown, or an id in a DimTable

  Dim() = default;
  Dim(int64_t known) : value(known), expr(kKnown) {}  // NOLINT: integers are dims
  static Dim unknown() { return Dim(); }
  static Dim expression(int32_t id) {
    Dim dim;
    dim.expr = id;
    return dim;
  }

  bool is_known() const { return expr == kKnown; }
  bool is_unknown() const { return expr == kUnknown; }
  bool is_symbolic() const { return expr >= 0; }
  bool is(int64_t number) const { return is_known() && value == number; }
  friend bool operator==(const Dim&, const Dim&) = default;
};

inline bool proven_equal(const Dim& a, const Dim& b) { return !a.is_unknown() && a == b; }

using Dims = SmallVector<Dim, 6>;

// A shape before run time: nothing is known (rank unknown), or a list of Dims.
using SymShape = std::optional<Dims>;

Dims to_dims(const Shape& shape);
// The concrete shape when every dim is known.
std::optional<Shape> to_shape(const SymShape& shape);

class DimTable {
 public:
  // The symbol `name`; the same name gives the same Dim.
  Dim symbol(std::string_view name);
  // A symbol that equals no other; its printed name starts with `hint`.
  Dim fresh_symbol(std::string_view hint);

  // Arithmetic; folds known values, unknown in gives unknown out. Division by a known zero and
  // overflow give unknown.
  Dim add(Dim a, Dim b);
  Dim sub(Dim a, Dim b);
  Dim mul(Dim a, Dim b);
  Dim floor_div(Dim a, Dim b);
  Dim ceil_div(Dim a, Dim b);
  Dim mod(Dim a, Dim b);
  Dim min(Dim a, Dim b);
  Dim max(Dim a, Dim b);

  // numpy broadcast of two dims; unknown when it cannot be told (N and M); nullopt when the two are
  // known and clash.
  std::optional<Dim> broadcast(Dim a, Dim b);

  // "3", "batch", "((H + 1) / 2)", "?"; a symbol that is no identifier is put in quotes.
  std::string print(Dim dim) const;
  // The name of a symbol as it was given; null for any other dim.
  const std::string* symbol_name(Dim dim) const;

  // The value under the given symbol values; nullopt when a symbol is missing.
  std::optional<int64_t> evaluate(Dim dim, const std::map<std::string, int64_t>& symbols) const;

 private:
  enum class Op : uint8_t { kSymbol, kAdd, kMul, kFloorDiv, kCeilDiv, kMod, kMin, kMax };
  struct Expr {
    Op op;
    Dim a, b;
    std::string name;  // kSymbol
  };
  Dim intern(Op op, Dim a, Dim b);

  std::vector<Expr> exprs_;
  std::unordered_map<std::string, int32_t> index_;
  std::unordered_map<std::string, int> next_suffix_;  // of fresh symbols, by hint
};

}  // namespace sardonyx
