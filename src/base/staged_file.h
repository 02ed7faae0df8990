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
  // Throws Error(kInvalidArgument) when `path` is empty or a folder and Error(kFail) when nothing
  // can be written beside it. Messages name the path, here and below.
  explicit StagedFile(std::string path);
  StagedFile(const StagedFile&) = delete;
  StagedFile& operator=(const StagedFile&) = delete;
  ~StagedFile();

  void write(std::span<const std::byte> bytes);
  void write_zeros(uint64_t count);
  uint64_t size() const { return size_; }
  const std::string& temporary_path() const { return temporary_; }

  // Waits until the bytes are on the disk. publish() does so too; first called alone where several
  // files are to appear together.
  void sync();
  // Once, at the end. An existing file (or symbolic link) is replaced; who has it open keeps it.
  void publish();
  // The same, but what was replaced comes back when the StagedFile goes without confirm(): for
  // several files that belong together. While it waits it lies beside the new file under a
  // temporary name, where a crash leaves it.
  void publish_for_now();
  void confirm();
  // Publishes two files of one folder that belong together, so that of several processes and
  // threads that do so at a time one puts both in place before the next one does. When the second
  // cannot be put in place, what the first replaced comes back.
  static void publish_both(StagedFile& first, StagedFile& second);
  // Returns when nobody is between the two files of publish_both() in the folder of `path`.
  static void wait_for_both(const std::string& path);

 private:
  [[noreturn]] void fail(const char* verb, int error) const;
  void sync_folder() const;
  void undo();  // what publish_for_now() did, unless it is confirmed

  std::string path_;
  std::string temporary_;  // empty once published
  std::string replaced_;   // where the replaced file waits
  bool for_now_ = false;
  int fd_ = -1;
  bool synced_ = false;
  uint64_t size_ = 0;
};

}  // namespace sardonyx
