// StagedFile: a file that appears whole or not at all. Bytes go to a temporary file in the same
// folder; publish() puts it in place of `path` in one step. A file that is not published leaves
// nothing behind; what a killed process left goes when the same file is written again. Called by
// whoever writes files that others may be reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace sardonyx {

class StagedFile {
 public:
  // Also removes temporary files of `path` whose writers have died.
  // Throws Error(kInvalidArgument) when `path` is empty, too long, or there is something that is no
  // file: a folder, a device, a pipe, a socket, a symbolic link (wherever it leads). Throws
  // Error(kFail) when nothing can be written beside it. Messages name the path, here and below.
  explicit StagedFile(std::string path);
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;
  ~StagedFile();

  void write(std::span<const std::byte> bytes);
  void write_zeros(uint64_t count);
  uint64_t size() const { return size_; }
  const std::string& temporary_path() const { return temporary_; }

  // Waits until the bytes are on the disk, as publish() does. Called alone where that should be
  // over before other files are written.
  void sync();
  // Once, at the end. An existing file is replaced; who has it open keeps it. What is no file, and
  // came after the constructor looked, is refused as there.
  void publish();
  // The same without waiting for the disk: for what can be made again.
  void publish_unsynced();
  // Publishes two files of one folder that belong together, so that of several processes and
  // threads that do so at a time one puts both in place before the next one does. When the second
  // cannot be put in place, what the first replaced comes back. A process that is killed between
  // the two leaves the first in place, and what it replaced under the name of a temporary file.
  static void publish_both(StagedFile& first, StagedFile& second);
  // Returns when nobody is between the two files of publish_both() in the folder of `path`.
  static void wait_for_both(const std::string& path);

 private:
  [[noreturn]] void fail(const char* verb, int error) const;
  void sync_folder() const;
  void put_in_place();
  void exchange();
  std::string set_aside() const;

  std::string path_;
  std::string temporary_;  // to be removed: of this file, or of what it replaced
  int fd_ = -1;
  bool synced_ = false;
  uint64_t size_ = 0;
};

// Replaces the file by `bytes`, whole or not at all, without waiting for the disk. Throws as
// StagedFile.
void write_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace sardonyx
