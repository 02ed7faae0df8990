// The attributes of nodes: AttributeValue to AttributeProto.
#include <fmt/format.h>

#include <bit>
#include <type_traits>

#include "onnx/attribute_type.h"
#include "onnx/graph_writer.h"
#include "onnx/tensor_writer.h"
#include "onnx/type_proto.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

// AttributeProto's type and the field that holds its value.
struct Place {
  int type;
  uint32_t field;
};

template <typename T>
constexpr Place place_of() {
  if constexpr (std::is_same_v<T, float>) return {kAttributeFloat, 2};
  if constexpr (std::is_same_v<T, int64_t>) return {kAttributeInt, 3};
  if constexpr (std::is_same_v<T, std::string>) return {kAttributeString, 4};
  if constexpr (std::is_same_v<T, Tensor>) return {kAttributeTensor, 5};
  if constexpr (std::is_same_v<T, std::shared_ptr<Graph>>) return {kAttributeGraph, 6};
  if constexpr (std::is_same_v<T, SparseTensor>) return {kAttributeSparseTensor, 22};
  if constexpr (std::is_same_v<T, ValueType>) return {kAttributeType, 14};
}

template <typename T>
constexpr Place place_of_list() {
  if constexpr (std::is_same_v<T, float>) return {kAttributeFloats, 7};
  if constexpr (std::is_same_v<T, int64_t>) return {kAttributeInts, 8};
  if constexpr (std::is_same_v<T, std::string>) return {kAttributeStrings, 9};
  if constexpr (std::is_same_v<T, Tensor>) return {kAttributeTensors, 10};
  if constexpr (std::is_same_v<T, std::shared_ptr<Graph>>) return {kAttributeGraphs, 11};
  if constexpr (std::is_same_v<T, SparseTensor>) return {kAttributeSparseTensors, 23};
  if constexpr (std::is_same_v<T, ValueType>) return {kAttributeTypes, 15};
}

}  // namespace

WireMessage GraphWriter::attribute(const std::string& name, const AttributeValue& value,
                                   const Outer& outer, const AttributeFileFields* fields) const {
  WireMessage out;
  out.text(1, name);
  size_t tensors = 0;
  const auto put_one = [&]<typename T>(uint32_t field, const T& one) {
    if constexpr (std::is_same_v<T, float>) {
      out.fixed32(field, std::bit_cast<uint32_t>(one));
    } else if constexpr (std::is_same_v<T, int64_t>) {
      out.varint(field, static_cast<uint64_t>(one));
    } else if constexpr (std::is_same_v<T, std::string>) {
      out.text(field, one);
    } else if constexpr (std::is_same_v<T, Tensor>) {
      const size_t index = tensors++;
      const bool kept = fields != nullptr && index < fields->tensors.size();
      out.message(field,
                  tensor_message(one, {}, nullptr, kept ? fields->tensors[index] : RawFields()));
    } else if constexpr (std::is_same_v<T, SparseTensor>) {
      out.message(field, sparse_tensor_message(one));
    } else if constexpr (std::is_same_v<T, ValueType>) {
      out.message(field, type_message(one, dims_));
    } else {
      if (one == nullptr) {
        throw Error(ErrorCode::kInvalidGraph, fmt::format("attribute '{}' holds no graph", name));
      }
      out.message(field, graph(*one, outer));
    }
  };
  const auto put = [&]<typename T>(const T& held) {
    if constexpr (std::is_same_v<T, AttributeRef>) {
      out.varint(20, static_cast<uint64_t>(held.type));
      out.text(21, held.name);
    } else if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>) {
      constexpr Place kPlace = place_of_list<typename T::value_type>();
      for (const auto& each : held) put_one(kPlace.field, each);
      out.varint(20, static_cast<uint64_t>(kPlace.type));
    } else {
      constexpr Place kPlace = place_of<T>();
      put_one(kPlace.field, held);
      out.varint(20, static_cast<uint64_t>(kPlace.type));
    }
  };
  std::visit([&](const auto& each) { put(unboxed(each)); }, value);
  if (fields != nullptr) out.put(fields->attribute);
  return out;
}

}  // namespace sardonyx
