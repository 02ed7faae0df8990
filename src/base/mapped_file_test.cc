#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/staged_file.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

class MappedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sardonyx_mapped_XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const char* name, std::string_view text) {
    const std::string path = folder_ + "/" + name;
    write_file(path, std::as_bytes(std::span(text)));
    return path;
  }
  ErrorCode code_of(const std::string& path, MappedFile::Links links = MappedFile::Links::kFollow) {
    try {
      MappedFile::open(path, links);
    } catch (const Error& error) {
      message_ = error.what();
      return error.code();
    }
    return ErrorCode::kOk;
  }

  std::string folder_;
  std::string message_;
};

TEST_F(MappedFileTest, MapsAndReads) {
  const std::string path = write("a", "hello");
  const auto file = MappedFile::open(path);
  ASSERT_EQ(file->bytes().size(), 5u);
  EXPECT_EQ(file->bytes()[4], std::byte{'o'});
  EXPECT_EQ(file->path(), path);
  EXPECT_EQ(read_file(path).size(), 5u);
}

TEST_F(MappedFileTest, AnEmptyFileHasNoBytes) {
  EXPECT_TRUE(MappedFile::open(write("empty", ""))->bytes().empty());
}

TEST_F(MappedFileTest, TheMappingOutlivesTheName) {
  const std::string path = write("a", "hello");
  const auto file = MappedFile::open(path);
  fs::remove(path);
  EXPECT_EQ(file->bytes()[0], std::byte{'h'});
}

TEST_F(MappedFileTest, ReadsPieces) {
  const std::string path = write("a", "hello");
  const FileReader file(path);
  EXPECT_EQ(file.size(), 5u);
  std::byte piece[3] = {};
  EXPECT_EQ(file.read(1, piece), 3u);
  EXPECT_EQ(piece[0], std::byte{'e'});
  EXPECT_EQ(file.read(3, piece), 2u) << "the file ends";
  EXPECT_EQ(piece[1], std::byte{'o'});
  EXPECT_EQ(file.read(5, piece), 0u);
  EXPECT_EQ(file.read(uint64_t{1} << 40, piece), 0u);
  EXPECT_THROW(FileReader(folder_ + "/none"), Error);
  EXPECT_THROW(FileReader{folder_}, Error);
}

TEST_F(MappedFileTest, RefusesWhatIsNoRegularFile) {
  EXPECT_EQ(code_of(folder_ + "/none"), ErrorCode::kNoSuchFile);
  EXPECT_NE(message_.find("none"), std::string::npos);
  EXPECT_EQ(code_of(folder_), ErrorCode::kInvalidArgument);
  EXPECT_NE(message_.find("a folder"), std::string::npos);
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(code_of(pipe), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(""), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of(std::string("a\0b", 3)), ErrorCode::kInvalidArgument);
}

TEST_F(MappedFileTest, FollowsLinksOnlyWhenAllowed) {
  const std::string path = write("a", "hello");
  const std::string link = folder_ + "/link";
  fs::create_symlink(path, link);
  EXPECT_EQ(code_of(link), ErrorCode::kOk);
  EXPECT_EQ(code_of(link, MappedFile::Links::kRefuse), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace sardonyx
