#include "ir/dim.h"

#include <fmt/format.h>

#include "ir/text_lexer.h"

namespace sardonyx {
namespace {

std::optional<int64_t> floor_divide(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  const int64_t quotient = a / b;
  return quotient - ((a % b != 0) && ((a < 0) != (b < 0)) ? 1 : 0);
}

std::optional<int64_t> ceil_divide(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
  const int64_t quotient = a / b;
  return quotient + ((a % b != 0) && ((a < 0) == (b < 0)) ? 1 : 0);
}

}  // namespace

Dims to_dims(const Shape& shape) {
  Dims dims;
  for (int64_t dim : shape) dims.push_back(Dim(dim));
  return dims;
}

std::optional<Shape> to_shape(const SymShape& shape) {
  if (!shape) return std::nullopt;
  Shape result;
  for (const Dim& dim : *shape) {
    if (!dim.is_known()) return std::nullopt;
    result.push_back(dim.value);
  }
  return result;
}

Dim DimTable::symbol(std::string_view name) {
  const std::string key = "$" + std::string(name);
  const auto [it, fresh] = index_.try_emplace(key, static_cast<int32_t>(exprs_.size()));
  if (fresh) exprs_.push_back({Op::kSymbol, Dim(), Dim(), std::string(name)});
  return Dim::expression(it->second);
}

Dim DimTable::fresh_symbol(std::string_view hint) {
  std::string name(hint);
  int& next = next_suffix_[name];  // a file may repeat one name very often
  while (index_.contains("$" + name)) name = fmt::format("{}#{}", hint, ++next);
  return symbol(name);
}

Dim DimTable::intern(Op op, Dim a, Dim b) {
  const std::string key =
      fmt::format("{},{}:{},{}:{}", static_cast<int>(op), a.expr, a.value, b.expr, b.value);
  const auto [it, fresh] = index_.try_emplace(key, static_cast<int32_t>(exprs_.size()));
  if (fresh) exprs_.push_back({op, a, b, {}});
  return Dim::expression(it->second);
}

Dim DimTable::add(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim();
  if (a.is_known() && b.is_known()) {
    int64_t sum;
    return __builtin_add_overflow(a.value, b.value, &sum) ? Dim() : Dim(sum);
  }
  if (a.is_known() || (b.is_symbolic() && b.expr < a.expr)) std::swap(a, b);  // constant last
  if (b.is(0)) return a;
  if (b.is_known() && exprs_[a.expr].op == Op::kAdd && exprs_[a.expr].b.is_known()) {
    const Expr inner = exprs_[a.expr];
    return add(inner.a, add(inner.b, b));
  }
  if (b.is_symbolic() && exprs_[b.expr].op == Op::kMul && exprs_[b.expr].b.is(-1) &&
      exprs_[b.expr].a == a) {
    return Dim(0);  // x + (-x)
  }
  if (exprs_[a.expr].op == Op::kMul && exprs_[a.expr].b.is(-1) && exprs_[a.expr].a == b) {
    return Dim(0);
  }
  return intern(Op::kAdd, a, b);
}

Dim DimTable::sub(Dim a, Dim b) {
  if (proven_equal(a, b)) return Dim(0);
  return add(a, mul(b, Dim(-1)));
}

Dim DimTable::mul(Dim a, Dim b) {
  if (a.is(0) || b.is(0)) return Dim(0);
  if (a.is_unknown() || b.is_unknown()) return Dim();
  if (a.is_known() && b.is_known()) {
    int64_t product;
    return __builtin_mul_overflow(a.value, b.value, &product) ? Dim() : Dim(product);
  }
  if (a.is_known() || (b.is_symbolic() && b.expr < a.expr)) std::swap(a, b);
  if (b.is(1)) return a;
  if (b.is_known() && exprs_[a.expr].op == Op::kMul && exprs_[a.expr].b.is_known()) {
    const Expr inner = exprs_[a.expr];
    return mul(inner.a, mul(inner.b, b));
  }
  return intern(Op::kMul, a, b);
}

Dim DimTable::floor_div(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown() || b.is(0)) return Dim();
  if (b.is(1)) return a;
  if (a.is_known() && b.is_known()) {
    const auto quotient = floor_divide(a.value, b.value);
    return quotient ? Dim(*quotient) : Dim();
  }
  if (a.is_symbolic() && exprs_[a.expr].op == Op::kMul && !b.is(0)) {
    const Expr inner = exprs_[a.expr];
    if (inner.b.is_known() && b.is_known() && inner.b.value % b.value == 0) {
      return mul(inner.a, Dim(inner.b.value / b.value));
    }
  }
  return intern(Op::kFloorDiv, a, b);
}

Dim DimTable::ceil_div(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown() || b.is(0)) return Dim();
  if (b.is(1)) return a;
  if (a.is_known() && b.is_known()) {
    const auto quotient = ceil_divide(a.value, b.value);
    return quotient ? Dim(*quotient) : Dim();
  }
  return intern(Op::kCeilDiv, a, b);
}

Dim DimTable::mod(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown() || b.is(0)) return Dim();
  if (a.is_known() && b.is_known()) {
    const auto quotient = floor_divide(a.value, b.value);
    return quotient ? Dim(a.value - *quotient * b.value) : Dim();
  }
  if (b.is(1)) return Dim(0);
  return intern(Op::kMod, a, b);
}

Dim DimTable::min(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim();
  if (a == b) return a;
  if (a.is_known() && b.is_known()) return Dim(std::min(a.value, b.value));
  if (a.is_known() || (b.is_symbolic() && b.expr < a.expr)) std::swap(a, b);
  return intern(Op::kMin, a, b);
}

Dim DimTable::max(Dim a, Dim b) {
  if (a.is_unknown() || b.is_unknown()) return Dim();
  if (a == b) return a;
  if (a.is_known() && b.is_known()) return Dim(std::max(a.value, b.value));
  if (a.is_known() || (b.is_symbolic() && b.expr < a.expr)) std::swap(a, b);
  return intern(Op::kMax, a, b);
}

std::optional<Dim> DimTable::broadcast(Dim a, Dim b) {
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  if (proven_equal(a, b)) return a;
  if (a.is_known() && b.is_known()) return std::nullopt;
  // One side is known and larger than 1 (or 0): the result must be that side.
  if (a.is_known()) return a;
  if (b.is_known()) return b;
  return Dim();
}

std::string DimTable::print(Dim dim) const {
  if (dim.is_known()) return std::to_string(dim.value);
  if (dim.is_unknown()) return "?";
  const Expr& e = exprs_[dim.expr];
  switch (e.op) {
    case Op::kSymbol:
      return quote_name(e.name);
    case Op::kAdd:
      return fmt::format("({} + {})", print(e.a), print(e.b));
    case Op::kMul:
      return fmt::format("({} * {})", print(e.a), print(e.b));
    case Op::kFloorDiv:
      return fmt::format("({} / {})", print(e.a), print(e.b));
    case Op::kCeilDiv:
      return fmt::format("ceil({} / {})", print(e.a), print(e.b));
    case Op::kMod:
      return fmt::format("({} % {})", print(e.a), print(e.b));
    case Op::kMin:
      return fmt::format("min({}, {})", print(e.a), print(e.b));
    case Op::kMax:
      return fmt::format("max({}, {})", print(e.a), print(e.b));
  }
  return "?";
}

const std::string* DimTable::symbol_name(Dim dim) const {
  if (!dim.is_symbolic()) return nullptr;
  const Expr& e = exprs_[dim.expr];
  return e.op == Op::kSymbol ? &e.name : nullptr;
}

std::optional<int64_t> DimTable::evaluate(Dim dim,
                                          const std::map<std::string, int64_t>& symbols) const {
  if (dim.is_known()) return dim.value;
  if (dim.is_unknown()) return std::nullopt;
  const Expr& e = exprs_[dim.expr];
  if (e.op == Op::kSymbol) {
    const auto it = symbols.find(e.name);
    return it == symbols.end() ? std::nullopt : std::optional<int64_t>(it->second);
  }
  const auto a = evaluate(e.a, symbols);
  const auto b = evaluate(e.b, symbols);
  if (!a || !b) return std::nullopt;
  int64_t result;
  switch (e.op) {
    case Op::kAdd:
      if (__builtin_add_overflow(*a, *b, &result)) return std::nullopt;
      return result;
    case Op::kMul:
      if (__builtin_mul_overflow(*a, *b, &result)) return std::nullopt;
      return result;
    case Op::kFloorDiv:
      return floor_divide(*a, *b);
    case Op::kCeilDiv:
      return ceil_divide(*a, *b);
    case Op::kMod: {
      const auto quotient = floor_divide(*a, *b);
      if (!quotient) return std::nullopt;
      return *a - *quotient * *b;
    }
    case Op::kMin:
      return std::min(*a, *b);
    case Op::kMax:
      return std::max(*a, *b);
    case Op::kSymbol:
      break;
  }
  return std::nullopt;
}

}  // namespace sardonyx
