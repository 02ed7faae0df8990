// AttributeProto.AttributeType, as numbered in ONNX files. Used by the reader and the writer of
// attributes.
#pragma once

namespace sardonyx {

enum AttributeType : int {
  kAttributeUndefined = 0,
  kAttributeFloat,
  kAttributeInt,
  kAttributeString,
  kAttributeTensor,
  kAttributeGraph,
  kAttributeFloats,
  kAttributeInts,
  kAttributeStrings,
  kAttributeTensors,
  kAttributeGraphs,
  kAttributeSparseTensor,
  kAttributeSparseTensors,
  kAttributeType,
  kAttributeTypes,
  kAttributeTypeCount,
};

}  // namespace sardonyx
