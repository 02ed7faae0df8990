#include "ops/control/scan_params.h"

#include <fmt/format.h>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

[[noreturn]] void fail(const Node& node, const std::string& message) {
  throw Error(ErrorCode::kInvalidGraph, fmt::format("{}: {}", describe(node), message));
}

// One number per input or output; all 0 when the attribute is absent.
std::vector<int64_t> read_list(const Node& node, const char* name, size_t count) {
  std::vector<int64_t> list = node.attributes.get_ints(name);
  if (list.empty()) list.assign(count, 0);
  if (list.size() != count) {
    fail(node, fmt::format("'{}' has {} numbers, expected {}", name, list.size(), count));
  }
  return list;
}

std::vector<bool> read_directions(const Node& node, const char* name, size_t count) {
  std::vector<bool> reversed;
  for (int64_t direction : read_list(node, name, count)) {
    if (direction != 0 && direction != 1) {
      fail(node, fmt::format("'{}' has the number {}, expected 0 (forward) or 1 (backward)", name,
                             direction));
    }
    reversed.push_back(direction == 1);
  }
  return reversed;
}

}  // namespace

ScanParams::ScanParams(const Node& node, size_t input_count, size_t output_count)
    : has_batch(node.version < 9), first_input(has_batch ? 1 : 0) {
  const int64_t given = node.attributes.get_int("num_scan_inputs", 0);
  const size_t most = input_count > first_input ? input_count - first_input : 0;
  if (given < 1 || static_cast<uint64_t>(given) > most) {
    fail(node, fmt::format("'num_scan_inputs' is {}, expected 1 to {}", given, most));
  }
  scanned = static_cast<size_t>(given);
  states = most - scanned;
  if (output_count < states) {
    fail(node, fmt::format("has {} outputs, expected one for each of the {} carried values",
                           output_count, states));
  }
  stacked = output_count - states;
  input_reversed =
      read_directions(node, has_batch ? "directions" : "scan_input_directions", scanned);
  output_reversed = std::vector<bool>(stacked, false);
  input_axes.assign(scanned, 0);
  output_axes.assign(stacked, 0);
  if (has_batch) return;
  output_reversed = read_directions(node, "scan_output_directions", stacked);
  input_axes = read_list(node, "scan_input_axes", scanned);
  output_axes = read_list(node, "scan_output_axes", stacked);
}

}  // namespace sardonyx
