// The name of a class as written in the source.
#pragma once

#include <string>
#include <typeinfo>

namespace sardonyx {

// "std::vector<int, std::allocator<int> >"; what the compiler calls it when that cannot be read.
std::string type_name(const std::type_info& type);

}  // namespace sardonyx
