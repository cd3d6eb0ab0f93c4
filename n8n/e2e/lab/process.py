"""Programs that the lab starts, each with its own log file and its own process id. Only these are ever ended, by that id."""
import os
import signal
import socket
import subprocess


def free_port():
    """A port of the loopback interface that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Program:
    """A program that runs until it is stopped or killed. `env` replaces the environment."""

    def __init__(self, command, log, env=None, cwd=None):
        self.log = log
        self._file = open(log, "ab")
        self._process = subprocess.Popen(
            [str(part) for part in command], stdin=subprocess.DEVNULL, stdout=self._file, stderr=self._file, env=env, cwd=cwd,
            start_new_session=True)

    @property
    def pid(self):
        return self._process.pid

    def ended(self):
        """The exit code, or None while it runs."""
        return self._process.poll()

    def must_run(self):
        if self.ended() is not None:
            raise RuntimeError(f"ended with {self.ended()}: {self.tail()}")

    def kill(self):
        """kill -9, of the program and then of what it had started itself: n8n's task runner outlives it."""
        if self.ended() is None:
            os.kill(self.pid, signal.SIGKILL)
        self._process.wait()
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self._file.close()

    def stop(self, patience=40):
        """SIGTERM, and kill -9 after `patience` seconds."""
        if self.ended() is None:
            self._process.terminate()
            try:
                self._process.wait(patience)
            except subprocess.TimeoutExpired:
                pass
        self.kill()

    def tail(self, lines=15):
        with open(self.log, "rb") as file:
            return b"\n".join(file.read().splitlines()[-lines:]).decode("utf-8", "replace")
