// Compiled models whose hashes agree and whose contents do not: what somebody who knows the format
// could write. A session refuses them or gives some answer; it never reads or writes elsewhere.
// Each test is worth most under a sanitizer or valgrind.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

#include "artifact/artifact.h"
#include "sardonyx/compile.h"
#include "tests/session/test_models.h"

namespace sardonyx {
namespace {

using artifact::CompiledPart;

struct ForgedCase {
  const char* name;
  const char* text;
};

const ForgedCase kCases[] = {
    {"conv", R"(m (float[N,3,8,8] x) => (float[N,8,P,Q] y)
        <float[16,3,3,3] w = {1, ...}, float[16] b = {0.5, ...}, float[16,1,3,3] d = {0.25, ...},
         float[8,16,1,1] v = {0.5, ...}, float[16,8,2,2] t = {0.5, ...}, float[1,8,1,1] s = {2, ...}> {
        c = Conv<pads = [1,1,1,1], kernel_shape = [3,3]>(x, w, b) r = Relu(c)
        e = Conv<pads = [1,1,1,1], kernel_shape = [3,3], group = 16>(r, d)
        a = Add(e, r) p = MaxPool<kernel_shape = [2,2], strides = [2,2]>(a)
        q = Conv<kernel_shape = [1,1]>(p, v) u = ConvTranspose<strides = [2,2]>(p, t)
        h = MaxPool<kernel_shape = [2,2], strides = [2,2]>(u) z = Add(h, q) y = Mul(z, s) })"},
    {"matmul", R"(m (float[N,8] x) => (float[N,8] y)
        <float[8,16] a = {1, ...}, float[16] c = {2, ...}, float[16,8] b = {1, ...}> {
        g = MatMul(x, a) h = Add(g, c) r = Relu(h) p = MatMul(r, b) y = Add(p, x) })"},
    {"int8", R"(m (float[N,8] x) => (float[N,4] y)
        <int8[8,4] b = {1, ...}, int8 z = {0}> {
        q, s, o = DynamicQuantizeLinear(x) i = MatMulInteger(q, b, o, z)
        f = Cast<to = 1>(i) y = Mul(f, s) })"},
    {"if", R"(m (bool[] c, float[N] x) => (float[N] y) <float[1] k = {5}> {
        y = If(c) <then_branch = yes () => (r) { r = Add(x, k) },
                   else_branch = no () => (r) { r = Mul(x, x) }> })"},
    {"loop", R"(m (int64[] n, float[N] x) => (float[N] y, float[M,N] all) {
        t = Constant<value = bool {1}>()
        y, all = Loop(n, t, x) <body = step (int64[] i, bool[] c, float[N] v)
            => (bool[] d, float[N] w, float[N] s) {
            d = Identity(c) w = Add(v, x) s = Exp(v) }> })"},
    {"lstm", R"(m (float[2,1,4] x) => (float[2,1,1,3] y, float[1,1,3] h)
        <float[1,12,4] w = {0.5, ...}, float[1,12,3] r = {0.25, ...}> {
        y, h = LSTM<hidden_size = 3>(x, w, r) })"},
    {"gru", R"(m (float[N,1,4] x) => (float[N,1,3] y)
        <float[1,9,4] w = {0.5, ...}, float[1,9,3] r = {0.25, ...}, float[1,18] b = {1, ...}> {
        a = GRU<hidden_size = 3, linear_before_reset = 1>(x, w, r, b)
        s = Constant<value = int64[1] {1}>() y = Squeeze(a, s) })"},
    {"sequence", R"(m (float[N] x) => (float[M] y) {
        s = SequenceConstruct(x, x) y = ConcatFromSequence<axis = 0>(s) })"},
    {"shapes", R"(m (float[N,4] x) => (float[A,B] y, int64[K,R] z) <int64[2] o = {4, -1}> {
        t = Transpose<perm = [1,0]>(x) r = Reshape(t, o) y = Softmax(r) z = NonZero(y) })"},
};

CompiledPart part_of(const char* text, const TemporaryFolder& folder) {
  folder.write("m.onnx", model_bytes(text));
  CompileOptions options;
  options.overwrite = true;
  compile(folder / "m.onnx", folder / "m_ctx.onnx", options);
  return artifact::read_artifact((folder / "m_CPUExecutionProvider.bin").string());
}

Value input_for(const ValueInfo& info) {
  if (info.kind != ValueKind::kTensor || !info.has_shape) return {};
  std::vector<int64_t> shape = info.shape;
  int64_t elements = 1;
  for (int64_t& dim : shape) {
    if (dim < 0) dim = 2;
    if (dim > 64) return {};
    elements *= dim;
  }
  Value value = Value::tensor(info.element_type, shape);
  if (info.element_type == ElementType::kFloat) {
    for (float& each : value.as<float>()) each = 0.5f;
  } else if (info.element_type == ElementType::kInt64) {
    for (int64_t& each : value.as<int64_t>()) each = 2;
  }
  return value;
}

// Cancels what takes too long: a Loop may be made to run for ever.
class Watchdog {
 public:
  explicit Watchdog(CancelToken token)
      : thread_([this, token]() mutable {
          std::unique_lock lock(mutex_);
          if (!done_.wait_for(lock, std::chrono::seconds(10), [this] { return stop_; })) {
            token.cancel();
          }
        }) {}
  ~Watchdog() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    done_.notify_one();
    thread_.join();
  }

 private:
  std::mutex mutex_;
  std::condition_variable done_;
  bool stop_ = false;
  std::thread thread_;
};

// True when a session takes the part and runs it.
bool try_part(const CompiledPart& part, std::string* message = nullptr) {
  std::vector<std::byte> bytes;
  try {
    artifact::write_artifact(part, {}, [&](std::span<const std::byte> piece) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    });
    Options options;
    options.threads = 1;
    options.memory_limit_bytes = uint64_t{1} << 28;
    const Session session(std::span<const std::byte>(bytes), options);
    std::vector<Value> inputs;
    for (const ValueInfo& info : session.inputs()) inputs.push_back(input_for(info));
    RunOptions run_options;
    const Watchdog watchdog(run_options.cancel);
    (void)session.run(inputs, run_options);
  } catch (const Error& error) {
    if (message != nullptr) *message = error.what();
    return false;
  }
  return true;
}

Tensor filled(DataType type, const Shape& shape) {
  Tensor tensor = Tensor::allocate(type, shape);
  std::memset(tensor.raw(), 1, static_cast<size_t>(tensor.size_bytes()));
  return tensor;
}

// Changes one thing of the program, or of a nested one.
class Forger {
 public:
  explicit Forger(uint32_t seed) : random_(seed) {}

  void change(CompiledPart& part) {
    Program* program = &part.program;
    while (!program->subprograms.empty() && pick(2) == 0) {
      program = &program->subprograms[pick(program->subprograms.size())].program;
    }
    switch (pick(9)) {
      case 0:
        return change_constant(*program);
      case 1:
        return change_type(*program);
      case 2:
        return change_operand(*program);
      case 3:
        return change_operand(*program);
      case 4:
        return change_attribute(*program);
      case 5:
        return change_attribute(*program);
      case 6:
        return change_target(part);
      case 7:
        return change_step(*program);
      default:
        return change_interface(part);
    }
  }

 private:
  size_t pick(size_t count) { return count == 0 ? 0 : random_() % count; }

  DataType some_type() {
    constexpr DataType kTypes[] = {DataType::kFloat, DataType::kInt64,  DataType::kUint8,
                                   DataType::kBool,  DataType::kString, DataType::kDouble};
    return kTypes[pick(std::size(kTypes))];
  }

  // Another shape for a constant: nothing, one element, half of them, another rank.
  void change_constant(Program& program) {
    std::vector<size_t> constants;
    for (size_t b = 0; b < program.buffers.size(); ++b) {
      if (program.buffers[b].kind == ProgramBuffer::Kind::kConstant) constants.push_back(b);
    }
    if (constants.empty()) return;
    ProgramBuffer& buffer = program.buffers[constants[pick(constants.size())]];
    if (!buffer.type.is_tensor() || buffer.constant.type() == DataType::kString) return;
    Shape shape = buffer.constant.shape();
    const size_t axis = pick(shape.size());
    switch (pick(5)) {
      case 0:
        shape = {0};
        break;
      case 1:
        shape = {};
        break;
      case 2:
        if (!shape.empty()) shape[axis] /= 2;
        break;
      case 3:
        shape.push_back(1);
        break;
      default:
        if (!shape.empty()) shape[axis] += 1;
    }
    const DataType type = pick(4) == 0 ? DataType::kInt64 : buffer.constant.type();
    buffer.constant = filled(type, shape);
    buffer.type = ValueType::tensor(type, to_dims(shape));
  }

  void change_type(Program& program) {
    ValueType& type = program.buffers[pick(program.buffers.size())].type;
    switch (pick(4)) {
      case 0:
        type = ValueType::sequence(ValueType::tensor(some_type()));
        break;
      case 1:
        type = ValueType();
        break;
      case 2:
        type = ValueType::optional(ValueType::tensor(some_type()));
        break;
      default:
        type = ValueType::tensor(some_type(), type.shape);
    }
  }

  void change_operand(Program& program) {
    if (program.steps.empty()) return;
    Node& step = program.steps[pick(program.steps.size())];
    ValueIds& ids = pick(4) == 0 ? step.outputs : step.inputs;
    const auto value = static_cast<ValueId>(pick(program.buffers.size()));
    if (pick(3) == 0) {
      ids.push_back(value);
    } else if (!ids.empty()) {
      ids[pick(ids.size())] = pick(3) == 0 ? ValueId::kNone : value;
    }
  }

  void change_attribute(Program& program) {
    if (program.steps.empty()) return;
    Node& step = program.steps[pick(program.steps.size())];
    if (step.attributes.size() == 0) return;
    auto at = step.attributes.begin();
    for (size_t i = pick(step.attributes.size()); i > 0; --i) ++at;
    const std::string name(at->first);
    AttributeValue value = at->second;
    if (pick(5) == 0) {
      step.attributes.erase(name);
      return;
    }
    if (auto* number = std::get_if<int64_t>(&value)) {
      *number = some_number(*number);
    } else if (auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      if (pick(4) == 0 || list->empty()) {
        list->push_back(some_number(1));
      } else {
        int64_t& one = (*list)[pick(list->size())];
        one = some_number(one);
      }
    } else if (auto* text = std::get_if<std::string>(&value)) {
      *text = pick(2) == 0 ? "SAME_UPPER" : "";
    }
    step.attributes.set(name, value);
  }

  int64_t some_number(int64_t old) {
    const int64_t numbers[] = {0,         1,         -1,        2,         4,         8,
                               16,        old + 1,   old - 1,   2 * old,   old / 2,   1024,
                               INT32_MAX, INT64_MAX, INT64_MIN, 1LL << 32, 1LL << 40, 1LL << 62};
    return numbers[pick(std::size(numbers))];
  }

  void change_target(CompiledPart& part) {
    constexpr const char* kTargets[] = {"scalar", "sse4", "avx2", "avx512", "neon", "", "none"};
    part.facets.target = kTargets[pick(std::size(kTargets))];
    part.facets.required_isa.clear();
    part.facets.rows.clear();
  }

  void change_step(Program& program) {
    if (program.steps.empty()) return;
    const size_t a = pick(program.steps.size()), b = pick(program.steps.size());
    switch (pick(4)) {
      case 0:
        std::swap(program.steps[a].op, program.steps[b].op);
        break;
      case 1:
        std::swap(program.steps[a].attributes, program.steps[b].attributes);
        break;
      case 2:
        std::swap(program.steps[a].inputs, program.steps[b].inputs);
        break;
      default:
        program.steps[a].outputs.resize(pick(program.steps[a].outputs.size() + 1), ValueId::kNone);
    }
  }

  void change_interface(CompiledPart& part) {
    std::vector<ValueInfo>& infos = pick(2) == 0 ? part.inputs : part.outputs;
    if (infos.empty()) return;
    const size_t i = pick(infos.size());
    switch (pick(4)) {
      case 0:
        infos[i].element_type = some_type();
        break;
      case 1:
        infos[i].kind = ValueKind::kSequence;
        break;
      case 2:
        part.program.outputs[pick(part.program.outputs.size())] =
            static_cast<int32_t>(pick(part.program.buffers.size()));
        break;
      default:
        if (!part.defaults.empty()) {
          part.defaults[pick(part.defaults.size())] =
              filled(pick(2) == 0 ? DataType::kInt64 : DataType::kFloat, {2});
        }
    }
  }

  std::mt19937 random_;
};

TEST(ForgedModels, AreRefusedOrHarmless) {
  const char* wanted = std::getenv("SARDONYX_FORGED_ROUNDS");
  const uint32_t rounds = wanted == nullptr ? 300 : static_cast<uint32_t>(std::atoi(wanted));
  const TemporaryFolder folder;
  for (const ForgedCase& c : kCases) {
    SCOPED_TRACE(c.name);
    const CompiledPart part = part_of(c.text, folder);
    std::string message;
    ASSERT_TRUE(try_part(part, &message)) << message;
    size_t refused = 0;
    for (uint32_t round = 0; round < rounds; ++round) {
      CompiledPart changed = part;
      Forger forger(round);
      forger.change(changed);
      if (std::getenv("SARDONYX_FORGED_TRACE")) fprintf(stderr, "%s %u\n", c.name, round);
      refused += try_part(changed) ? 0 : 1;
    }
    EXPECT_GT(refused, rounds / 8);
  }
}

Node& step_of(CompiledPart& part, std::string_view op) {
  for (Node& step : part.program.steps) {
    if (step.op == op) return step;
  }
  throw std::runtime_error("the program has no step " + std::string(op));
}

ProgramBuffer& operand(CompiledPart& part, std::string_view op, size_t i) {
  return part.program.buffers[static_cast<size_t>(step_of(part, op).inputs[i])];
}

void replace(ProgramBuffer& buffer, DataType type, const Shape& shape) {
  buffer.constant = filled(type, shape);
  buffer.type = ValueType::tensor(type, to_dims(shape));
}

// One thing is wrong in each row; the message says which.
TEST(ForgedModels, TheErrorNamesWhatDoesNotFit) {
  struct Row {
    const char* model;
    const char* change_name;
    std::function<void(CompiledPart&)> change;
    const char* message;
  };
  const Row rows[] = {
      {"conv", "a packed weight that is too small",
       [](CompiledPart& p) { replace(operand(p, "BlockedConv", 1), DataType::kFloat, {16}); },
       "the packed weight has 16 elements on axis 0"},
      {"conv", "a packed bias that is too small",
       [](CompiledPart& p) { replace(operand(p, "BlockedConv", 2), DataType::kFloat, {8}); },
       "the packed bias has 8 elements on axis 0, expected 16"},
      {"conv", "filters that the weight does not have",
       [](CompiledPart& p) { step_of(p, "BlockedConv").attributes.set("filters", int64_t{4096}); },
       "the packed weight"},
      {"conv", "filters beyond all sizes",
       [](CompiledPart& p) {
         step_of(p, "BlockedConv").attributes.set("filters", int64_t{1} << 62);
       },
       "filters"},
      {"conv", "depthwise weights of another size",
       [](CompiledPart& p) {
         replace(operand(p, "BlockedDepthwiseConv", 1), DataType::kFloat, {9});
       },
       "the packed weight has 9 elements"},
      {"conv", "depthwise filters that are no channels",
       [](CompiledPart& p) {
         step_of(p, "BlockedDepthwiseConv").attributes.set("filters", int64_t{64});
       },
       "filters"},
      {"conv", "blocks that are no blocks of the channels",
       [](CompiledPart& p) {
         step_of(p, "ReorderFromBlocked").attributes.set("channels", int64_t{100});
       },
       "100 channels need"},
      {"matmul", "a packed matrix that is too small",
       [](CompiledPart& p) { replace(operand(p, "PackedGemm", 1), DataType::kFloat, {8}); },
       "a packed matrix of 8 floats"},
      {"matmul", "a bias that is too small",
       [](CompiledPart& p) { replace(operand(p, "PackedGemm", 2), DataType::kFloat, {3}); },
       "the bias has 3 elements on axis 0, expected 16"},
      {"matmul", "a matrix beyond all sizes",
       [](CompiledPart& p) { step_of(p, "PackedGemm").attributes.set("k", int64_t{1} << 62); },
       "describe no packed matrix"},
      {"matmul", "a level that nobody knows",
       [](CompiledPart& p) {
         p.facets.required_isa.clear();
         p.facets.target = "none";
       },
       "it needs none"},
      {"lstm", "packed weights that are too small",
       [](CompiledPart& p) {
         replace(operand(p, "PackedLSTM", 1), DataType::kFloat, {1, 8});
       },
       "the packed W has a dimension of 8; expected"},
      {"lstm", "packed recurrent weights that are too small",
       [](CompiledPart& p) {
         replace(operand(p, "PackedLSTM", 2), DataType::kFloat, {1, 8});
       },
       "the packed R has a dimension of 8; expected"},
      {"lstm", "packed weights of one dimension",
       [](CompiledPart& p) { replace(operand(p, "PackedLSTM", 1), DataType::kFloat, {64}); },
       "the packed W has 1 dimensions; expected 2"},
      {"lstm", "states that the weights do not have",
       [](CompiledPart& p) {
         step_of(p, "PackedLSTM").attributes.set("hidden_size", int64_t{4096});
       },
       "the packed W has a dimension of"},
      {"lstm", "states beyond all sizes",
       [](CompiledPart& p) {
         step_of(p, "PackedLSTM").attributes.set("hidden_size", int64_t{1} << 62);
       },
       "describe no packed weights"},
      {"lstm", "an input that the weights do not have",
       [](CompiledPart& p) { step_of(p, "PackedLSTM").attributes.set("input_size", int64_t{64}); },
       "X has a dimension of 4; expected 64"},
      {"lstm", "tiles of another machine",
       [](CompiledPart& p) { step_of(p, "PackedLSTM").attributes.set("nr", int64_t{5}); },
       "packed for tiles of 5 columns"},
      {"gru", "packed recurrent weights of one matrix",
       [](CompiledPart& p) {
         ProgramBuffer& r = operand(p, "PackedGRU", 2);
         replace(r, DataType::kFloat, {1, r.constant.shape()[1] / 2});
       },
       "the packed R has a dimension of"},
      {"gru", "a direction more than the weights have",
       [](CompiledPart& p) {
         step_of(p, "PackedGRU").attributes.set("direction", std::string("bidirectional"));
       },
       "has a dimension of 1; expected 2"},
      {"lstm", "a result of another element type",
       [](CompiledPart& p) {
         const auto y = static_cast<size_t>(p.program.outputs[0]);
         p.program.buffers[y].type = ValueType::tensor(DataType::kDouble);
         p.outputs[0].element_type = ElementType::kDouble;
       },
       "double"},
      {"if", "a result that is a sequence",
       [](CompiledPart& p) {
         Program& body = p.program.subprograms[0].program;
         body.buffers[static_cast<size_t>(body.outputs[0])].type =
             ValueType::sequence(ValueType::tensor(DataType::kFloat));
       },
       "is seq(float), expected one of"},
      {"if", "an input described as another type",
       [](CompiledPart& p) { p.inputs[1].element_type = ElementType::kInt64; },
       "input 'x' is described as float[N], the program takes another type"},
      {"if", "a default of another type",
       [](CompiledPart& p) { p.defaults[1] = filled(DataType::kInt64, {2}); },
       "is a int64, expected float[N]"},
      {"loop", "a value whose type is not known",
       [](CompiledPart& p) {
         Program& body = p.program.subprograms[0].program;
         body.buffers[static_cast<size_t>(body.steps[0].outputs[0])].type = ValueType();
       },
       "the type of a value is not known"},
  };
  const TemporaryFolder folder;
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.model) + ": " + row.change_name);
    const ForgedCase* found =
        std::find_if(std::begin(kCases), std::end(kCases),
                     [&](const ForgedCase& c) { return std::string_view(c.name) == row.model; });
    CompiledPart part = part_of(found->text, folder);
    row.change(part);
    std::string message;
    EXPECT_FALSE(try_part(part, &message));
    expect_mentions(message, {row.message});
  }
}

}  // namespace
}  // namespace sardonyx
