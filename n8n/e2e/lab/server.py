"""The frame of the lab's own servers: HTTP/1.1 on a free port of the loopback interface, one thread a connection."""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Request:
    """A request as it came, with its body read."""

    def __init__(self, handler):
        self.method, self.path = handler.command, handler.path.split("?")[0]
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.raw = handler.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            self.body = json.loads(self.raw or b"null")
        except ValueError:
            self.body = self.raw.decode("utf-8", "replace")


DROP = object()


class Server:
    """Answers with what `answer(request)` returns: (status, body), (status, content type, bytes), or DROP to close
    without a byte."""

    def __init__(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def handle_one(self):
                told = server.answer(Request(self))
                if told is DROP:
                    self.close_connection = True
                    self.connection.close()
                    return
                status, kind, data = told if len(told) == 3 else (told[0], "application/json", json.dumps(told[1]).encode())
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                try:
                    self.wfile.write(data)
                except OSError:
                    self.close_connection = True

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one

        class Listener(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self._server = Listener(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, request):
        raise NotImplementedError

    def close(self):
        self._server.shutdown()
        self._server.server_close()
