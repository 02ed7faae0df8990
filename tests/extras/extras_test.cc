#include "base/extras.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "sardonyx/error.h"

namespace sardonyx {
namespace {

std::string demo_picture() {
  std::ifstream file("assets/demo_line.png", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

RgbImage decode(const std::string& bytes, int64_t max_pixels = 1 << 20) {
  return decode_image(std::as_bytes(std::span(bytes)), max_pixels);
}

std::string message_of(const std::string& bytes, int64_t max_pixels = 1 << 20) {
  try {
    decode(bytes, max_pixels);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    return error.what();
  }
  return "decoded";
}

TEST(Extras, TableIsOfThisVersion) {
  EXPECT_EQ(extras().version, SDX_EXTRAS_VERSION);
  EXPECT_GE(extras().size_bytes, sizeof(SdxExtras));
}

TEST(Extras, DecodesPng) {
  const RgbImage image = decode(demo_picture());
  EXPECT_EQ(image.height, 48);
  ASSERT_EQ(image.pixels.size(), static_cast<size_t>(image.width * image.height * 3));
  // Black letters on white: grey becomes three equal samples.
  EXPECT_EQ(image.pixels[0], 255);
  EXPECT_EQ(*std::min_element(image.pixels.begin(), image.pixels.end()), 0);
  for (size_t i = 0; i < image.pixels.size(); i += 3) {
    ASSERT_EQ(image.pixels[i], image.pixels[i + 1]);
    ASSERT_EQ(image.pixels[i], image.pixels[i + 2]);
  }
}

TEST(Extras, RefusesWhatIsNoPicture) {
  EXPECT_EQ(message_of(""), "neither a PNG nor a JPEG picture");
  EXPECT_EQ(message_of("GIF89a and more"), "neither a PNG nor a JPEG picture");
  EXPECT_NE(message_of("\xff\xd8\xff and more").find("damaged JPEG: "), std::string::npos);
}

TEST(Extras, ChecksTheSizeBeforeAllocating) {
  EXPECT_NE(message_of(demo_picture(), 100).find("more than the limit of 100 pixels"),
            std::string::npos);
  // A PNG header that announces 2^31 - 1 pixels a side.
  std::string huge = demo_picture();
  for (size_t at : {16u, 20u}) huge.replace(at, 4, "\x7f\xff\xff\xff", 4);
  EXPECT_NE(message_of(huge, int64_t{1} << 62), "decoded");
}

TEST(Extras, EveryTruncationIsAnError) {
  const std::string whole = demo_picture();
  for (size_t size = 0; size < whole.size(); size += 7) {
    EXPECT_NE(message_of(whole.substr(0, size)), "decoded") << size << " bytes";
  }
}

TEST(Extras, FlippedBytesNeverCrash) {
  const std::string whole = demo_picture();
  for (size_t at = 0; at < whole.size(); at += 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    message_of(damaged);
  }
}

}  // namespace
}  // namespace sardonyx
