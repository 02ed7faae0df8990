// UTF-8 to code points and back. Broken sequences become U+FFFD. Used for text in .npy files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::cli {

std::vector<uint32_t> decode_utf8(std::string_view text);
std::string encode_utf8(const std::vector<uint32_t>& code_points);

}  // namespace sardonyx::cli
