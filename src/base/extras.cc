#include "base/extras.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>

#include "sardonyx/error.h"

#ifndef SARDONYX_LIBDIR
#define SARDONYX_LIBDIR "lib"  // CMAKE_INSTALL_LIBDIR: from the prefix to the libraries
#endif

namespace sardonyx {
namespace {

constexpr const char* kLibrary = "libsardonyx_extras.so";

// The folder of the executable or library that holds this function; empty when unknown.
std::filesystem::path own_folder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0 || info.dli_fname == nullptr) {
    return {};
  }
  std::error_code error;
  // An executable is named as it was called, which may be relative or found through PATH.
  std::filesystem::path path(info.dli_fname);
  const bool is_library =
      path.extension() != "" && path.filename().string().find(".so") != std::string::npos;
  if (!is_library) path = "/proc/self/exe";
  path = std::filesystem::canonical(path, error);
  return error ? std::filesystem::path() : path.parent_path();
}

std::vector<std::string> candidates() {
  const char* chosen = std::getenv("SARDONYX_EXTRAS");
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  std::vector<std::string> paths;
  const std::filesystem::path folder = own_folder();
  if (!folder.empty()) {
    paths.push_back((folder / kLibrary).string());
    paths.push_back((folder.parent_path() / SARDONYX_LIBDIR / kLibrary).string());
  }
  paths.push_back(kLibrary);
  return paths;
}

const SdxExtras* open_extras() {
  std::string tried;
  for (const std::string& path : candidates()) {
    const bool is_path = path.find('/') != std::string::npos;
    if (is_path && !std::filesystem::exists(path)) {
      tried += fmt::format("; {}: no such file", path);
      continue;
    }
    if (is_path && !std::filesystem::is_regular_file(path)) {  // a pipe would be waited for
      tried += fmt::format("; {}: no regular file", path);
      continue;
    }
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      tried += fmt::format("; {}: {}", path, dlerror());
      continue;
    }
    const auto get = reinterpret_cast<SdxExtrasGet>(dlsym(library, "sdx_extras_get"));
    const SdxExtras* table = get == nullptr ? nullptr : get(SDX_EXTRAS_VERSION);
    if (table == nullptr || table->version != SDX_EXTRAS_VERSION) {
      dlclose(library);
      throw Error(ErrorCode::kFail,
                  fmt::format("{} is not of this version of Sardonyx (interface {})", path,
                              SDX_EXTRAS_VERSION));
    }
    return table;  // never closed: its functions may be in use on any thread
  }
  throw Error(ErrorCode::kNotFound,
              fmt::format("{} is needed to read pictures and was not found. Put it beside the "
                          "executable or name it in SARDONYX_EXTRAS. Tried {}",
                          kLibrary, tried.substr(2)));
}

}  // namespace

const SdxExtras& extras() {
  // A failure is thrown again by the next call, which may find a library that was put there since.
  static std::mutex mutex;
  static const SdxExtras* table = nullptr;
  const std::lock_guard<std::mutex> lock(mutex);
  if (table == nullptr) table = open_extras();
  return *table;
}

RgbImage decode_image(std::span<const std::byte> encoded, int64_t max_pixels) {
  const SdxExtras& table = extras();
  const auto* bytes = reinterpret_cast<const uint8_t*>(encoded.data());
  char message[256] = "";
  SdxImageInfo info = {};
  if (table.image_info(bytes, encoded.size(), &info, message, sizeof message) != 0) {
    throw Error(ErrorCode::kInvalidArgument, message);
  }
  // Both are 32-bit: the product cannot overflow unsigned 64 bits.
  if (uint64_t{info.width} * info.height > static_cast<uint64_t>(max_pixels)) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("the picture has {} x {} pixels, more than the limit of {} pixels",
                            info.width, info.height, max_pixels));
  }
  RgbImage image{info.width, info.height, {}};
  image.pixels.resize(size_t{info.width} * info.height * 3);
  if (table.image_decode(bytes, encoded.size(), image.pixels.data(), image.pixels.size(), message,
                         sizeof message) != 0) {
    throw Error(ErrorCode::kInvalidArgument, message);
  }
  return image;
}

}  // namespace sardonyx
