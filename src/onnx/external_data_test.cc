#include "onnx/external_data.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/staged_file.h"
#include "onnx/proto_builders.h"
#include "onnx/tensor_proto.h"
#include "sardonyx/error.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

class ExternalDataTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "sardonyx_external_XXXXXX").string();
    root_ = fs::canonical(::mkdtemp(name.data()));
    fs::create_directories(root_ / "model" / "sub");
    write("model/model.onnx", "m");
    write("model/w.bin", "0123456789abcdef");
    write("model/sub/w.bin", "SUB.");
    write("secret.bin", "SECRET-CONTENT-0");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, std::string_view text) {
    write_file((root_ / name).string(), std::as_bytes(std::span(text)));
  }
  std::string model() const { return (root_ / "model/model.onnx").string(); }

  // The bytes found, or "error: ...".
  std::string find(const ExternalData::Entries& entries, size_t size, std::string model_path = {}) {
    try {
      ExternalData data = ExternalData::beside_model(model_path.empty() ? model() : model_path);
      const SharedBytes found = data.find(entries, size);
      return {reinterpret_cast<const char*>(found.bytes.data()), found.bytes.size()};
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find("SECRET"), std::string::npos);
      return std::string("error: ") + error.what();
    }
  }
  void expect_refused(const ExternalData::Entries& entries, size_t size, const char* part) {
    const std::string found = find(entries, size);
    EXPECT_TRUE(found.starts_with("error: ")) << found;
    EXPECT_NE(found.find(part), std::string::npos) << found;
  }

  fs::path root_;
};

TEST_F(ExternalDataTest, FindsBytesBesideTheModel) {
  EXPECT_EQ(find({{"location", "w.bin"}}, 4), "0123");
  EXPECT_EQ(find({{"location", "w.bin"}, {"offset", "10"}, {"length", "6"}}, 6), "abcdef");
  EXPECT_EQ(find({{"location", "./sub/w.bin"}, {"checksum", "x"}}, 4), "SUB.");
  EXPECT_EQ(find({{"location", "w.bin"}, {"offset", "16"}}, 0), "");
}

TEST_F(ExternalDataTest, LocationsStayInTheFolder) {
  for (const char* location :
       {"../secret.bin", "sub/../../secret.bin", "sub/..", "..", "../../../../etc/passwd"}) {
    expect_refused({{"location", location}}, 4, "climbs out");
  }
  expect_refused({{"location", "/etc/passwd"}}, 4, "absolute");
  expect_refused({{"location", (root_ / "model/w.bin").string()}}, 4, "absolute");
  expect_refused({{"location", ""}}, 4, "is empty");
  expect_refused({{"location", std::string("w.bin\0x", 7)}}, 4, "NUL");
  expect_refused({{"location", "none.bin"}}, 4, "cannot open");
  expect_refused({{"location", "sub"}}, 4, "a folder");
  expect_refused({{"location", "."}}, 4, "leads out");
  ASSERT_EQ(::mkfifo((root_ / "model/pipe").c_str(), 0600), 0);
  expect_refused({{"location", "pipe"}}, 4, "a device, pipe or socket");
}

TEST_F(ExternalDataTest, LinksMayNotLeadOut) {
  fs::create_symlink(root_ / "secret.bin", root_ / "model/out.bin");
  fs::create_symlink(root_, root_ / "model/up");
  fs::create_symlink("w.bin", root_ / "model/in.bin");
  fs::create_symlink("loop", root_ / "model/loop");
  expect_refused({{"location", "out.bin"}}, 4, "leads out");
  expect_refused({{"location", "up/secret.bin"}}, 4, "leads out");
  expect_refused({{"location", "loop"}}, 4, "cannot open");
  EXPECT_EQ(find({{"location", "in.bin"}}, 4), "0123");
}

TEST_F(ExternalDataTest, AHubLayoutLoads) {
  // snapshots/<revision>/ holds links to blobs/<hash>, for the model and its data alike.
  fs::create_directories(root_ / "blobs");
  fs::create_directories(root_ / "snapshots/1");
  write("blobs/aa", "m");
  write("blobs/bb", "DATA");
  fs::create_symlink("../../blobs/aa", root_ / "snapshots/1/model.onnx");
  fs::create_symlink("../../blobs/bb", root_ / "snapshots/1/model.onnx_data");
  fs::create_symlink("../../secret.bin", root_ / "snapshots/1/bad");
  const std::string path = (root_ / "snapshots/1/model.onnx").string();
  EXPECT_EQ(find({{"location", "model.onnx_data"}}, 4, path), "DATA");
  EXPECT_TRUE(find({{"location", "bad"}}, 4, path).starts_with("error: "));
}

TEST_F(ExternalDataTest, NumbersAreChecked) {
  for (const char* number : {"-1", "", " 1", "1 ", "0x10", "1.5", "99999999999999999999", "+1"}) {
    expect_refused({{"location", "w.bin"}, {"offset", number}}, 4, "expected a decimal number");
    expect_refused({{"location", "w.bin"}, {"length", number}}, 4, "expected a decimal number");
  }
  expect_refused({{"location", "w.bin"}, {"length", "5"}}, 4, "length is 5");
  expect_refused({{"location", "w.bin"}, {"offset", "13"}}, 4, "which has 16");
  expect_refused({{"location", "w.bin"}, {"offset", "18446744073709551615"}}, 4, "which has 16");
  expect_refused({{"location", "w.bin"}}, size_t{1} << 50, "which has 16");
}

TEST_F(ExternalDataTest, KeysAreKnownAndSingle) {
  expect_refused({{"location", "w.bin"}, {"colour", "red"}}, 4, "unknown key 'colour'");
  expect_refused({{"location", "w.bin"}, {"location", "w.bin"}}, 4, "twice");
  expect_refused({{"location", "w.bin"}, {"offset", "0"}, {"offset", "1"}}, 4, "twice");
  expect_refused({{"offset", "0"}}, 4, "no location");
}

TEST_F(ExternalDataTest, AModelInMemoryNeedsAFolderOrTheBytes) {
  ExternalData none;
  try {
    none.find({{"location", "w.bin"}}, 4);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("base folder"), std::string::npos);
  }
  ExternalData folder = ExternalData::in_folder((root_ / "model").string());
  EXPECT_EQ(folder.find({{"location", "w.bin"}}, 4).bytes.size(), 4u);
  const std::string held = "HELD";
  none.add_buffers({{"w.bin", {std::as_bytes(std::span(held)), nullptr}}});
  EXPECT_EQ(none.find({{"location", "w.bin"}}, 4).bytes[0], std::byte{'H'});
  EXPECT_THROW(ExternalData::in_folder((root_ / "none").string()), Error);
}

TEST_F(ExternalDataTest, TensorsReadTheirBytesThere) {
  ExternalData data = ExternalData::beside_model(model());
  proto::Message m = proto::tensor("t", 2, {3});
  m.message(13, proto::entry("location", "w.bin"));
  m.message(13, proto::entry("offset", "1"));
  m.varint(14, 1);
  const Tensor tensor = read_tensor(WireCursor(m.result(), "TensorProto"), {nullptr, &data}).tensor;
  EXPECT_EQ(tensor.data<char>()[0], '1');
  EXPECT_NE(tensor.owner(), nullptr);  // a view that keeps the file mapped

  proto::Message text = proto::tensor("t", 8, {1});
  text.message(13, proto::entry("location", "w.bin"));
  text.varint(14, 1);
  EXPECT_THROW(read_tensor(WireCursor(text.result(), "TensorProto"), {nullptr, &data}), Error);
  EXPECT_THROW(read_tensor(WireCursor(m.result(), "TensorProto"), {}), Error);

  proto::Message huge = proto::tensor("t", 1, {int64_t{1} << 40});
  huge.message(13, proto::entry("location", "w.bin"));
  huge.varint(14, 1);
  EXPECT_THROW(read_tensor(WireCursor(huge.result(), "TensorProto"), {nullptr, &data}), Error);
}

}  // namespace
}  // namespace sardonyx
