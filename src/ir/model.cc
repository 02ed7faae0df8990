#include "ir/model.h"

namespace sardonyx {

const Function* Model::find_function(const std::string& in_domain, const std::string& function_name,
                                     const std::string& overload) const {
  for (const Function& function : functions) {
    if (function.name == function_name && function.domain == in_domain &&
        function.overload == overload) {
      return &function;
    }
  }
  return nullptr;
}

}  // namespace sardonyx
