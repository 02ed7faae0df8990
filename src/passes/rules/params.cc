#include "passes/rules/params.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "passes/numbers.h"

namespace sardonyx::rules {

std::optional<std::pair<double, double>> clip_limits(const Graph& graph, const Node& node) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (node.version < 11) {
    const double low = node.attributes.get_float("min", -std::numeric_limits<float>::infinity());
    const double high = node.attributes.get_float("max", std::numeric_limits<float>::infinity());
    if (std::isnan(low) || std::isnan(high)) return std::nullopt;
    return std::pair{low, high};
  }
  std::pair<double, double> limits = {-kInfinity, kInfinity};
  for (size_t i = 1; i <= 2; ++i) {
    if (node.input(i) == ValueId::kNone) continue;
    const std::optional<double> limit = scalar_of(graph.value(node.input(i)).constant);
    if (!limit || std::isnan(*limit)) return std::nullopt;
    (i == 1 ? limits.first : limits.second) = *limit;
  }
  return limits;
}

std::optional<kernels::Epilogue> activation_of(const Graph& graph, const Node& node) {
  using kernels::Activation;
  using kernels::Epilogue;
  const auto attribute = [&](const char* name, float fallback) {
    return node.attributes.get_float(name, fallback);
  };
  if (node.op == "Relu") return Epilogue{Activation::kRelu};
  if (node.op == "Sigmoid") return Epilogue{Activation::kSigmoid};
  if (node.op == "Tanh") return Epilogue{Activation::kTanh};
  if (node.op == "HardSwish") return Epilogue{Activation::kHardSwish, 1.0f / 6, 0.5f};
  if (node.op == "LeakyRelu") {
    return Epilogue{Activation::kLeakyRelu, attribute("alpha", 0.01f)};
  }
  if (node.op == "HardSigmoid") {
    return Epilogue{Activation::kHardSigmoid, attribute("alpha", 0.2f), attribute("beta", 0.5f)};
  }
  if (node.op == "Swish") {
    if (attribute("alpha", 1.0f) != 1.0f) return std::nullopt;
    return Epilogue{Activation::kSilu};
  }
  if (node.op == "Gelu") {
    const bool is_exact = node.attributes.get_string("approximate", "none") == "none";
    return Epilogue{is_exact ? Activation::kGelu : Activation::kGeluTanh};
  }
  if (node.op == "Clip") {
    const auto limits = clip_limits(graph, node);
    if (!limits) return std::nullopt;
    return Epilogue{Activation::kClip, static_cast<float>(limits->first),
                    static_cast<float>(limits->second)};
  }
  return std::nullopt;
}

Pattern clip(Pattern x, double low, double high) {
  return op("Clip", {std::move(x)})
      .with_more_inputs()
      .where([low, high](const Graph& graph, const Node& node) {
        const auto limits = clip_limits(graph, node);
        return limits && limits->first == low && limits->second == high;
      });
}

std::optional<std::vector<int64_t>> reduce_axes(const Graph& graph, const Node& node) {
  std::vector<int64_t> axes;
  if (node.attributes.contains("axes")) {
    axes = node.attributes.get_ints("axes");
  } else if (node.input(1) != ValueId::kNone) {
    const Tensor& tensor = graph.value(node.input(1)).constant;
    if (!tensor.is_defined()) return std::nullopt;
    for (int64_t axis : integer_values(tensor)) axes.push_back(axis);
  }
  if (axes.empty()) return std::nullopt;
  const SymShape& shape = graph.value(node.input(0)).type.shape;
  for (int64_t& axis : axes) {
    if (axis < 0 && shape) axis += static_cast<int64_t>(shape->size());
  }
  return axes;
}

std::optional<int64_t> reduced_from(const Graph& graph, const Node& node) {
  if (node.attributes.get_int("keepdims", 1) != 1) return std::nullopt;
  std::optional<std::vector<int64_t>> axes = reduce_axes(graph, node);
  const SymShape& shape = graph.value(node.input(0)).type.shape;
  if (!axes || !shape) return std::nullopt;
  std::sort(axes->begin(), axes->end());
  const auto rank = static_cast<int64_t>(shape->size());
  const auto count = static_cast<int64_t>(axes->size());
  for (int64_t i = 0; i < count; ++i) {
    if ((*axes)[static_cast<size_t>(i)] != rank - count + i) return std::nullopt;
  }
  return -count;
}

NodePredicate has_float(std::string_view attribute, double value, double fallback,
                        double tolerance) {
  return
      [name = std::string(attribute), value, fallback, tolerance](const Graph&, const Node& node) {
        const double found = node.attributes.get_float(name, static_cast<float>(fallback));
        return std::abs(found - value) <= tolerance;
      };
}

NodePredicate has_int(std::string_view attribute, int64_t value, int64_t fallback) {
  return [name = std::string(attribute), value, fallback](const Graph&, const Node& node) {
    return node.attributes.get_int(name, fallback) == value;
  };
}

NodePredicate has_string(std::string_view attribute, std::string_view value,
                         std::string_view fallback) {
  return [name = std::string(attribute), value = std::string(value),
          fallback = std::string(fallback)](const Graph&, const Node& node) {
    return node.attributes.get_string(name, fallback) == value;
  };
}

Pattern half(const Pattern& x) {
  return one_of({op("Mul", {x, scalar(0.5)}), op("Div", {x, scalar(2.0)})});
}

bool is_float(DataType type) {
  return type == DataType::kFloat || type == DataType::kDouble || type == DataType::kFloat16 ||
         type == DataType::kBfloat16;
}

bool is_single(DataType type) { return type == DataType::kFloat; }

}  // namespace sardonyx::rules
