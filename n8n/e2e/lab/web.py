"""HTTP as the lab speaks it: one request, many at once behind a barrier, and waiting for something to become true.
No retries and no redirects of its own: the lab must see what was answered."""
import http.client
import json
import threading
import time
import urllib.error
import urllib.request
from urllib.parse import urlparse


class Answer:
    """A status, the headers in lower case, and the body as JSON where it is JSON and else as text."""

    def __init__(self, status, headers, raw):
        self.status = status
        self.headers = {name.lower(): value for name, value in headers}
        text = raw.decode("utf-8", "replace")
        try:
            self.body = json.loads(text) if text else None
        except ValueError:
            self.body = text

    def __repr__(self):
        return f"{self.status} {str(self.body)[:300]}"


def ask(method, url, body=None, headers=None, opener=None, timeout=90):
    """One request. A body that is not bytes goes as JSON. An HTTP error is an answer; no answer is an OSError."""
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    sent = {"content-type": "application/json"} if data is not None else {}
    request = urllib.request.Request(url, data=data, method=method, headers={**sent, **(headers or {})})
    try:
        with (opener or urllib.request.build_opener()).open(request, timeout=timeout) as answer:
            return Answer(answer.status, answer.headers.items(), answer.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.headers.items(), error.read())


def burst(count, method, url, body=None, headers=None, timeout=90):
    """`count` identical requests on connections that are open already, released by one barrier. A lost answer is None."""
    parts, barrier, answers = urlparse(url), threading.Barrier(count), [None] * count
    path = parts.path + (f"?{parts.query}" if parts.query else "")
    data = None if body is None else json.dumps(body).encode()

    def one(index):
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
        connection.connect()
        barrier.wait()
        try:
            connection.request(method, path, data, {"content-type": "application/json", **(headers or {})})
            answer = connection.getresponse()
            answers[index] = Answer(answer.status, answer.getheaders(), answer.read())
        except OSError:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=one, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def until(what, look, timeout=60, pause=0.1):
    """Waits until `look()` gives something true, and returns it. An OSError counts as "not yet"."""
    end = time.monotonic() + timeout
    while True:
        try:
            seen = look()
        except OSError:
            seen = None
        if seen:
            return seen
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {timeout} s")
        time.sleep(pause)
