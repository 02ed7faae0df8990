#include "text.h"

#include <gtest/gtest.h>

namespace sardonyx::cli {
namespace {

TEST(Text, OneLineKeepsALineALine) {
  EXPECT_EQ(one_line("a b\n\x1b[2J\x7f\xc3\xa9"), "a b\\x0a\\x1b[2J\\x7f\xc3\xa9");
  EXPECT_EQ(one_line(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(one_line(""), "");
  EXPECT_EQ(one_line("\xc2\x9b"
                     "31m"),
            "\\xc2\\x9b31m");  // CSI as one character
  EXPECT_EQ(one_line("\x9b"
                     "31m\xc3"),
            "\\x9b31m\\xc3");  // no UTF-8
  EXPECT_EQ(one_line("a\xe2\x80\xae"
                     "b"),
            "a\\xe2\\x80\\xae"
            "b");  // right to left from here
  EXPECT_EQ(one_line("\xe5\xad\x97\xf0\x9f\x99\x82\xef\xbf\xbd"),
            "\xe5\xad\x97\xf0\x9f\x99\x82\xef\xbf\xbd");
}

TEST(Text, LinesStayLines) {
  EXPECT_EQ(lines("a\x1b\n\nb\r\n"), "a\\x1b\n\nb\\x0d\n");
  EXPECT_EQ(lines("a"), "a");
}

TEST(Text, Bytes) {
  EXPECT_EQ(byte_text(0), "0 B");
  EXPECT_EQ(byte_text(1023), "1023 B");
  EXPECT_EQ(byte_text(1024), "1.0 KiB");
  EXPECT_EQ(byte_text(1536), "1.5 KiB");
  EXPECT_EQ(byte_text(int64_t{3} << 30), "3.0 GiB");
  EXPECT_EQ(byte_text(int64_t{1} << 60), "1048576.0 TiB");
}

TEST(Text, NearestWord) {
  const std::vector<std::string> words = {"inspect", "run", "bench", "--input", "--input-list"};
  EXPECT_EQ(nearest("inspect", words), "inspect");
  EXPECT_EQ(nearest("inpsect", words), "inspect");
  EXPECT_EQ(nearest("rum", words), "run");
  EXPECT_EQ(nearest("--inptu", words), "--input");
  EXPECT_EQ(nearest("--input-lst", words), "--input-list");
  EXPECT_EQ(nearest("teleport", words), "");
  EXPECT_EQ(nearest("", words), "");
  EXPECT_EQ(nearest("run", {}), "");
}

}  // namespace
}  // namespace sardonyx::cli
