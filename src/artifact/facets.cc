#include "artifact/facets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <span>

#include "artifact/hash.h"
#include "sardonyx/error.h"

namespace sardonyx::artifact {
namespace {

constexpr std::string_view kPrefix = "sardonyx-";

bool contains(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

std::string join(const std::vector<std::string>& names, const char* separator) {
  return fmt::format("{}", fmt::join(names, separator));
}

Verdict unsupported(const char* facet, std::string reason) {
  return {Compatibility::kUnsupported, facet, std::move(reason)};
}

// nullopt: it can run here.
std::optional<Verdict> find_obstacle(const Facets& facets, const Offer& offer) {
  if (facets.format_major != kFormatMajor) {
    return unsupported("format",
                       fmt::format("it has format {}.{}, this version reads {}.x; "
                                   "compile the model again",
                                   facets.format_major, facets.format_minor, kFormatMajor));
  }
  if (facets.provider != offer.provider) {
    return Verdict{
        Compatibility::kNotApplicable, "provider",
        fmt::format("it was compiled by '{}', not by '{}'", facets.provider, offer.provider)};
  }
  if (facets.architecture != offer.architecture) {
    return unsupported("architecture", fmt::format("it was compiled for {}, this machine is {}",
                                                   facets.architecture, offer.architecture));
  }
  // Its steps bind to the target's rows, whatever the list of levels says.
  std::vector<std::string> needed = facets.required_isa;
  needed.push_back(facets.target);
  for (const std::string& level : needed) {
    if (contains(offer.isa, level)) continue;
    if (contains(offer.hidden_isa, level)) {
      return unsupported("isa", fmt::format("it needs {}, which {} hides", level, offer.hidden_by));
    }
    return unsupported(
        "isa", fmt::format("it needs {}, this machine offers {}", level, join(offer.isa, ", ")));
  }
  for (const auto& [row, version] : facets.rows) {
    const std::optional<uint32_t> found = offer.version_of_row(row);
    if (!found) {
      return unsupported("row", fmt::format("it uses the kernel row {} (version {}), which this "
                                            "version of Sardonyx does not have; compile the model "
                                            "again",
                                            row, version));
    }
    if (*found != version) {
      return unsupported("row",
                         fmt::format("it uses the kernel row {} of version {}, this version of "
                                     "Sardonyx has version {}; compile the model again",
                                     row, version, *found));
    }
  }
  return std::nullopt;
}

// A name of the text form: no character that separates.
const std::string& checked(const std::string& name) {
  const bool fits = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return c > ' ' && c < 0x7f && std::string_view("\"'#,+:@=\\").find(c) == std::string_view::npos;
  });
  if (fits) return name;
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("'{}' cannot be a name in the facets of a compiled model: use printable "
                          "ASCII without spaces and \"'#,+:@=\\",
                          name));
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

template <typename Number>
Number parse_number(std::string_view text, int base = 10) {
  Number number{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) {
    throw Error(ErrorCode::kFail,
                fmt::format("compatibility info is damaged: '{}' is no number", text));
  }
  return number;
}

// Calls `take` for each non-empty part between separators.
void split(std::string_view text, char separator,
           const std::function<void(std::string_view)>& take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end != 0) take(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

template <typename Number>
void parse_pairs(std::string_view text, char separator, std::map<std::string, Number>& pairs) {
  split(text, ',', [&](std::string_view pair) {
    const size_t at = pair.find(separator);
    if (at == std::string_view::npos) {
      throw Error(ErrorCode::kFail,
                  fmt::format("compatibility info is damaged: '{}' lacks '{}'", pair, separator));
    }
    pairs[std::string(pair.substr(0, at))] = parse_number<Number>(pair.substr(at + 1));
  });
}

void parse_field(std::string_view field, Facets& facets) {
  const size_t at = field.find('=');
  if (at == std::string_view::npos) return;  // of a newer minor format
  const std::string_view key = field.substr(0, at), value = field.substr(at + 1);
  if (key == "provider") facets.provider = value;
  if (key == "arch") facets.architecture = value;
  if (key == "target") facets.target = value;
  if (key == "isa") {
    split(value, '+', [&](std::string_view level) { facets.required_isa.emplace_back(level); });
  }
  if (key == "rows") parse_pairs(value, '@', facets.rows);
  if (key == "tuning") parse_pairs(value, ':', facets.tuning);
}

}  // namespace

Verdict judge(const Facets& facets, const Offer& offer) {
  if (std::optional<Verdict> obstacle = find_obstacle(facets, offer)) return *std::move(obstacle);
  const std::string best = offer.isa.empty() ? "" : offer.isa.back();
  if (facets.target != best) {
    return {Compatibility::kPreferRecompilation, "target",
            fmt::format("it was compiled for {}, this machine offers {}", facets.target, best)};
  }
  for (const auto& [name, value] : facets.tuning) {
    const auto found = offer.tuning.find(name);
    if (found == offer.tuning.end() || found->second == value) continue;
    return {Compatibility::kPreferRecompilation, "tuning",
            fmt::format("it was compiled with {} = {}, {} suits this machine better", name, value,
                        found->second)};
  }
  return {Compatibility::kOptimal, "", ""};
}

std::string compatibility_info(const Facets& facets) {
  std::string line = fmt::format("{}{}.{} provider={} arch={} target={}", kPrefix,
                                 facets.format_major, facets.format_minor, checked(facets.provider),
                                 checked(facets.architecture), checked(facets.target));
  std::string isa, tuning, rows;
  for (const std::string& level : facets.required_isa) {
    isa += (isa.empty() ? "" : "+") + checked(level);
  }
  for (const auto& [name, value] : facets.tuning) {
    tuning += fmt::format("{}{}:{}", tuning.empty() ? "" : ",", checked(name), value);
  }
  for (const auto& [name, version] : facets.rows) {
    rows += fmt::format("{}{}@{}", rows.empty() ? "" : ",", checked(name), version);
  }
  if (!isa.empty()) line += " isa=" + isa;
  if (!tuning.empty()) line += " tuning=" + tuning;
  if (!rows.empty()) line += " rows=" + rows;
  return line + fmt::format(" #{:016x}", short_hash_of(bytes_of(line)));
}

Facets parse_compatibility_info(std::string_view info) {
  if (!info.starts_with(kPrefix)) {
    throw Error(ErrorCode::kFail,
                fmt::format("'{}' is no compatibility info of Sardonyx; it starts with '{}'",
                            info.substr(0, 40), kPrefix));
  }
  const std::string_view number = info.substr(kPrefix.size(), info.find(' ') - kPrefix.size());
  const size_t dot = std::min(number.find('.'), number.size());
  Facets facets;
  facets.format_major = parse_number<uint16_t>(number.substr(0, dot));
  facets.format_minor = parse_number<uint16_t>(number.substr(std::min(dot + 1, number.size())));
  if (facets.format_major != kFormatMajor) return facets;

  const size_t mark = info.rfind(" #");
  if (mark == std::string_view::npos || info.size() - mark != 18 ||
      parse_number<uint64_t>(info.substr(mark + 2), 16) !=
          short_hash_of(bytes_of(info.substr(0, mark)))) {
    throw Error(ErrorCode::kFail,
                "compatibility info is damaged: its checksum does not agree; take it from the "
                "compiled model again");
  }
  split(info.substr(0, mark), ' ', [&](std::string_view field) { parse_field(field, facets); });
  return facets;
}

}  // namespace sardonyx::artifact
