// Facets: what decides whether a compiled model runs here, and whether compiling it again would pay
// off. They lie in the first page of an artifact and, as one line of text, in the metadata of the
// ONNX file that wraps it. judge() compares them with an Offer, which tells what this machine and
// this build have; the caller fills it in. Called by cpu (to fill and to offer), session, cache.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sardonyx/compile.h"

namespace sardonyx::artifact {

inline constexpr uint16_t kFormatMajor = 1;  // another one cannot be read
inline constexpr uint16_t kFormatMinor = 0;  // a newer one can: what it adds is skipped

struct Facets {
  uint16_t format_major = kFormatMajor;
  uint16_t format_minor = kFormatMinor;
  std::string provider;      // "CPUExecutionProvider": whose Program it is
  std::string architecture;  // "x86-64", "aarch64"
  std::string target;        // the ISA level it was compiled for: "avx2"
  // ISA levels without which the rows it uses cannot run; empty for portable code.
  std::vector<std::string> required_isa;
  // Kernel rows it uses, with their versions; a name holds neither spaces, commas nor '@'.
  std::map<std::string, uint32_t> rows;
  // Choices that only speed depends on: {"block", 8}.
  std::map<std::string, int64_t> tuning;

  friend bool operator==(const Facets&, const Facets&) = default;
};

struct Offer {
  std::string provider;
  std::string architecture;
  // ISA levels that may be used, worst first; the last is what compile() would aim at now.
  std::vector<std::string> isa;
  // Levels that processor and system have but a setting hides, and the setting's name.
  std::vector<std::string> hidden_isa;
  std::string hidden_by;  // "SARDONYX_MAX_ISA"
  // The version of a kernel row that is here.
  std::function<std::optional<uint32_t>(std::string_view row)> version_of_row;
  // What compile() would choose now; a name that is missing here is not compared.
  std::map<std::string, int64_t> tuning;
};

Verdict judge(const Facets& facets, const Offer& offer);

// One line of printable ASCII without quotes, for the metadata key
// "ep_compatibility_info.<provider>"; ends in a checksum. Throws Error(kInvalidArgument) for a name
// that it cannot hold.
std::string compatibility_info(const Facets& facets);

// The facets in such a line. Of another major format only the version is read. Throws Error(kFail)
// when the line is damaged or is not one of ours.
Facets parse_compatibility_info(std::string_view info);

}  // namespace sardonyx::artifact
