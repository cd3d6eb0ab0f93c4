"""The model: an OpenAI-compatible chat endpoint that says what the scenario wrote down. It holds a call open where it is told
to, so that something can be killed in the middle of it."""
import json
import secrets
import threading
import time

from .server import DROP, Server


class Model(Server):
    def __init__(self):
        self._lock, self._held, self._scripts = threading.Lock(), {}, {}
        self.calls = []
        super().__init__()

    def hold(self, word, times=1):
        """The next `times` calls that mention `word` are never answered."""
        with self._lock:
            self._held[word] = times

    def script(self, word, replies):
        """What to say in a conversation that mentions `word`: `replies(messages, tools)` gives a text, or a list of
        (tool, arguments) to call."""
        with self._lock:
            self._scripts[word] = replies

    def called(self, word):
        """How many calls mentioned `word`."""
        with self._lock:
            return sum(1 for text in self.calls if word in text)

    def answer(self, request):
        text = json.dumps(request.body)
        with self._lock:
            self.calls.append(text)
            word = next((word for word, left in self._held.items() if left and word in text), None)
            if word:
                self._held[word] -= 1
            script = next((script for name, script in self._scripts.items() if name in text), None)
        if word:
            time.sleep(600)
            return DROP
        said = script(request.body["messages"], request.body.get("tools") or []) if script else json.dumps({"label": "question"})
        return _stream(said) if request.body.get("stream") else (200, _completion(said))


def _message(said):
    if isinstance(said, str):
        return {"role": "assistant", "content": said}, "stop"
    calls = [{"id": f"call_{secrets.token_hex(6)}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
             for name, arguments in said]
    return {"role": "assistant", "content": None, "tool_calls": calls}, "tool_calls"


def _completion(said):
    message, reason = _message(said)
    return {"id": "chat-1", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}


def _stream(said):
    message, reason = _message(said)
    for index, call in enumerate(message.get("tool_calls") or []):
        call["index"] = index
    chunk = {"id": "chat-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
    parts = [{**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
             {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}]
    lines = "".join(f"data: {json.dumps(part)}\n\n" for part in parts)
    return 200, "text/event-stream", (lines + "data: [DONE]\n\n").encode()
