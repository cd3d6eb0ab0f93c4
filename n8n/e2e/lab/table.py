"""The counts of a run: one line for each thing that was done, one column for each way of doing it."""

BARE, PLAIN, OUT, NODE, INBOUND, TOOLS, MCP = "without", "HTTP nodes", "out door", "node", "in door", "tools", "MCP"
# The ways in which n8n holds a lease, and what it proposes goes out afterwards.
LEASED = (PLAIN, NODE)
WAYS = (BARE, PLAIN, OUT, NODE, INBOUND, TOOLS, MCP)


class Table:
    """Collects counts against what is expected of them."""

    def __init__(self):
        self._rows, self.faults = {}, []

    def count(self, what, way, seen, want, note=""):
        """`want` is a number, or (lowest, highest) where n8n's own timing decides."""
        low, high = want if isinstance(want, tuple) else (want, want)
        good = low <= seen <= high
        wanted = f"{low}" if low == high else f"{low} to {high}"
        cell = f"{seen}{' ' + note if note else ''}" if good else f"{seen}, NOT {wanted}"
        self._rows.setdefault(what, {})[way] = cell
        print(f"  {'ok ' if good else 'NOT'} {what} | {way}: {seen}{' ' + note if note else ''} (expected {wanted})", flush=True)
        if not good:
            self.faults.append(f"{what}, {way}: {seen} instead of {wanted}")

    def fault(self, text):
        """Something that is no count went wrong."""
        print(f"  NOT {text}", flush=True)
        self.faults.append(text)

    def must(self, what, truth, seen):
        """A fact beside the counts."""
        if truth:
            print(f"  ok  {what}", flush=True)
        else:
            self.fault(f"{what}: {seen}")

    def text(self):
        """The whole as a Markdown table; ways without a count are left out."""
        ways = [way for way in WAYS if any(way in row for row in self._rows.values())]
        lines = [["effects at the far side", *ways]] + [[what, *(row.get(way, "") for way in ways)] for what, row in self._rows.items()]
        wide = [max(len(line[i]) for line in lines) for i in range(len(ways) + 1)]
        show = lambda line: "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, wide)) + " |"
        rule = "| " + " | ".join("-" * width for width in wide) + " |"
        return "\n".join([show(lines[0]), rule, *map(show, lines[1:])])
