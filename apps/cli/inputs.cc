#include "inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <random>

#include "command.h"
#include "elements.h"
#include "tensor_file.h"

namespace sardonyx::cli {
namespace {

using Shapes = std::map<size_t, std::vector<int64_t>>;  // by input

CommandError input_error(const std::string& message) {
  return CommandError(kExitInput, ErrorCode::kInvalidArgument, message);
}

bool is_channels(int64_t dim) { return dim == 1 || dim == 3 || dim == 4; }

Shapes parse_shapes(const Session& session, const std::vector<std::string>& texts) {
  Shapes shapes;
  for (const std::string& text : texts) {
    const auto [name, sizes] = split_assignment(text, "--shape");
    shapes[find_input(session, name)] = parse_shape(sizes, "--shape");
  }
  return shapes;
}

// The same input and seed give the same numbers whatever other inputs are given.
uint64_t seed_of_input(uint64_t seed, size_t index) {
  return seed * 0x9e3779b97f4a7c15u + index + 1;
}

std::string required_names(const Session& session) {
  std::vector<std::string> names;
  for (const ValueInfo& input : session.inputs()) names.push_back(input.name + ": " + input.type);
  return fmt::format("{}", fmt::join(names, "; "));
}

// The tensor of an input: its own, or what a sequence or an optional holds.
const ValueInfo& innermost(const ValueInfo& info) {
  return info.item.empty() ? info : innermost(info.item[0]);
}

Value read_file(const std::string& path, const ValueInfo& tensor, const std::vector<int64_t>& shape,
                const PictureOptions& picture) {
  std::string suffix = std::filesystem::path(path).extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (suffix == ".png" || suffix == ".jpg" || suffix == ".jpeg") {
    return read_picture(path, tensor.element_type, shape, picture);
  }
  return read_tensor(path, tensor.element_type);
}

// A sequence is one of two such tensors.
Value random_input(const ValueInfo& info, const std::vector<int64_t>* given_shape, uint64_t seed,
                   int64_t integers_below) {
  if (info.kind == ValueKind::kOptional) {
    return Value::optional(random_input(info.item.at(0), given_shape, seed, integers_below));
  }
  if (info.kind == ValueKind::kSequence) {
    std::vector<Value> items;
    for (uint64_t i = 0; i < 2; ++i) {
      items.push_back(random_input(info.item.at(0), given_shape,
                                   i == 0 ? seed : seed_of_input(seed, i), integers_below));
    }
    return Value::sequence(items);
  }
  return random_value(info.element_type,
                      given_shape == nullptr ? default_shape(info) : *given_shape, seed,
                      integers_below);
}

}  // namespace

void InputOptions::declare_files(Verb& verb) {
  verb.repeatable("--input", files,
                  "An input from .npy, .pb (TensorProto), .png or .jpg (repeatable); FILE alone "
                  "for a model with one input. A sequence: files with commas between them, or a "
                  "folder of 0.npy, 1.npy ...; NAME= is an optional that holds nothing",
                  "NAME=FILE");
  picture.declare(verb);
}

void InputOptions::declare_random(Verb& verb) {
  verb.repeatable("--shape", shapes,
                  "Shape of a random or picture input, as x=1x3x224x224 or x=scalar (repeatable). "
                  "Open dimensions without it: the first is 1, height and width of an image 224, "
                  "others 16",
                  "NAME=SHAPE");
  verb.number("--seed", seed, "Seed of random inputs");
  verb.number("--integers-below", integers_below,
              "Random integers are drawn from 0 to N, exclusive; floats from [-1, 1)", 1);
}

std::vector<int64_t> default_shape(const ValueInfo& input) {
  std::vector<int64_t> shape = input.shape;
  const bool is_image = shape.size() == 4 && (is_channels(shape[1]) || is_channels(shape[3]));
  const size_t height_axis = is_image && is_channels(shape[1]) ? 2 : 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] >= 0) continue;
    const bool is_side = is_image && (d == height_axis || d == height_axis + 1);
    shape[d] = d == 0 ? 1 : is_side ? 224 : 16;
  }
  return shape;
}

Value random_value(ElementType type, const std::vector<int64_t>& shape, uint64_t seed,
                   int64_t integers_below) {
  std::mt19937_64 generator(seed);
  Value value = Value::tensor(type, shape);
  if (type == ElementType::kString) {
    for (std::string& text : value.as<std::string>())
      text = std::string(1, "0123456789"[generator() % 10]);
    return value;
  }
  const bool is_real = type == ElementType::kFloat || type == ElementType::kDouble ||
                       type == ElementType::kFloat16 || type == ElementType::kBfloat16;
  const auto below = static_cast<uint64_t>(type == ElementType::kBool ? 2 : integers_below);
  std::vector<double> elements(value.size());
  for (double& element : elements) {
    const uint64_t bits = generator();
    element =
        is_real ? static_cast<double>(bits >> 40) * 0x1p-23 - 1 : static_cast<double>(bits % below);
  }
  set_from_doubles(value, elements);
  return value;
}

size_t find_input(const Session& session, const std::string& name) {
  const std::vector<ValueInfo>& inputs = session.inputs();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == name) return i;
  }
  throw input_error(
      fmt::format("the model has no input '{}'. Its inputs: {}", name, required_names(session)));
}

Value read_input(const std::string& path, const ValueInfo& input, const std::vector<int64_t>& shape,
                 const PictureOptions& picture) {
  try {
    return read_value(path, input, [&](const std::string& file, const ValueInfo& tensor) {
      return read_file(file, tensor, shape, picture);
    });
  } catch (const Error& error) {
    throw CommandError(kExitInput, error.with_context(fmt::format("input '{}'", input.name)));
  }
}

std::vector<Value> make_inputs(const Session& session, const InputOptions& options) {
  const std::vector<ValueInfo>& infos = session.inputs();
  const Shapes shapes = parse_shapes(session, options.shapes);
  std::vector<Value> values(infos.size());
  for (const std::string& text : options.files) {
    const size_t at = text.find('=');
    if (at == std::string::npos && infos.size() != 1) {
      throw input_error(fmt::format("--input wants NAME=FILE, the model has inputs: {}",
                                    required_names(session)));
    }
    const size_t index = at == std::string::npos ? 0 : find_input(session, text.substr(0, at));
    const std::string path = at == std::string::npos ? text : text.substr(at + 1);
    if (path.empty() && infos[index].kind == ValueKind::kTensor) {
      throw input_error(fmt::format("input '{}' ({}): --input '{}' names no file",
                                    infos[index].name, infos[index].type, text));
    }
    const auto shape = shapes.find(index);
    values[index] = read_input(
        path, infos[index], shape == shapes.end() ? innermost(infos[index]).shape : shape->second,
        options.picture);
  }
  for (size_t i = 0; i < infos.size(); ++i) {
    if (values[i].has_value() || infos[i].is_optional) continue;
    if (!options.random) {
      throw input_error(fmt::format("input '{}' ({}) is missing: give --input {}=FILE or --random",
                                    infos[i].name, infos[i].type, infos[i].name));
    }
    const auto shape = shapes.find(i);
    if (shape == shapes.end() && !innermost(infos[i]).has_shape) {
      throw input_error(fmt::format("the model does not say the shape of '{}': give --shape {}=...",
                                    infos[i].name, infos[i].name));
    }
    try {
      values[i] = random_input(infos[i], shape == shapes.end() ? nullptr : &shape->second,
                               seed_of_input(options.seed, i), options.integers_below);
    } catch (const Error& error) {
      throw CommandError(kExitInput, error.with_context(fmt::format("input '{}'", infos[i].name)));
    }
  }
  return values;
}

CommandError input_misfit(const Session& session, const InputOptions& options, const Error& error) {
  std::string guesses;
  const Shapes shapes = parse_shapes(session, options.shapes);
  const std::vector<ValueInfo>& infos = session.inputs();
  for (size_t i = 0; options.random && i < infos.size(); ++i) {
    const ValueInfo& info = innermost(infos[i]);
    const bool is_open =
        std::any_of(info.shape.begin(), info.shape.end(), [](int64_t dim) { return dim < 0; });
    const bool is_given =
        std::any_of(options.files.begin(), options.files.end(), [&](const std::string& text) {
          return text.find('=') == std::string::npos || text.starts_with(infos[i].name + "=");
        });
    if (!is_open || is_given || infos[i].is_optional || shapes.contains(i)) continue;
    guesses += fmt::format(" --shape {}={}", infos[i].name, fmt::join(default_shape(info), "x"));
  }
  if (guesses.empty()) return CommandError(kExitInput, error);
  return CommandError(
      kExitInput, error.code(),
      fmt::format("{}; sizes were guessed: give others than{}", error.what(), guesses));
}

}  // namespace sardonyx::cli
