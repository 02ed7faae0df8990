"""A process that has run a model and waits, so that its memory can be looked at."""

import subprocess


class WaitingProcess:
    def __init__(self, command, model, input_words, threads=1):
        self.process = subprocess.Popen([command, "bench", model, "--serve", "--threads", str(threads), *input_words],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "ready\n":
            raise RuntimeError(f"{command} does not answer (its message is above)")
        self.process.stdin.write("1\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def pages(self, name=None):
        """Sums of the fields of /proc/PID/smaps, bytes, over the mappings of the file `name`, or over all."""
        sums, counted = {}, name is None
        with open(f"/proc/{self.process.pid}/smaps", encoding="ascii", errors="replace") as file:
            for line in file:
                words = line.split()
                if not words[0].endswith(":"):
                    counted = name is None or line.rstrip().endswith(name)
                elif counted and words[-1] == "kB":
                    sums[words[0][:-1]] = sums.get(words[0][:-1], 0) + int(words[1]) * 1024
        return sums

    def close(self):
        self.process.stdin.close()
        self.process.wait()
