// sardonyx check: whether a compiled model can be used here, without loading it.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "model_file.h"
#include "sardonyx/compile.h"
#include "text.h"

namespace sardonyx::cli {
namespace {

constexpr const char* kFooter = R"(
Reads the ONNX file without its weights and the first page of the compiled part, nothing else.
Exit code 0: it can be used (optimal, prefer recompilation); 1: it cannot (unsupported, not
applicable), also when the compiled file beside it is missing, cut or another model's.

Example:
  sardonyx check model_ctx.onnx)";

struct Arguments {
  std::string model;
  bool json = false;
};

int check(const Arguments& arguments) {
  Verdict verdict;
  try {
    verdict = check_compatibility(arguments.model);
  } catch (const Error& error) {
    throw model_error(arguments.model, error);
  }
  if (arguments.json) {
    nlohmann::ordered_json result;
    result["status"] = static_cast<int>(verdict.compatibility);
    result["verdict"] = to_string(verdict.compatibility);
    result["facet"] = verdict.facet;
    result["reason"] = verdict.reason;
    fmt::print("{}\n", result.dump(2, ' ', true, nlohmann::json::error_handler_t::replace));
  } else {
    print("{}{}{}\n", to_string(verdict.compatibility), verdict.reason.empty() ? "" : ": ",
          verdict.reason);
  }
  const bool usable = verdict.compatibility == Compatibility::kOptimal ||
                      verdict.compatibility == Compatibility::kPreferRecompilation;
  return usable ? kExitOk : kExitFailure;
}

}  // namespace

void declare_check(Verb& verb) {
  const auto arguments = std::make_shared<Arguments>();
  verb.positional("model", arguments->model, "The compiled model");
  verb.flag("--json", arguments->json, "Print JSON");
  verb.footer(kFooter);
  verb.action([arguments] {
    check_environment();
    return check(*arguments);
  });
}

}  // namespace sardonyx::cli
