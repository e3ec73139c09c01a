"""Something to do at every line that a piece of work comes to."""

from __future__ import annotations

import linecache
import sys


def trace_lines(work, act, *, files):
    """Run `work`; call `act` with each line of `files` that it comes to, and how often it has been there."""
    seen: dict[tuple[str, int], int] = {}

    def on_line(frame, event, argument):
        if event == "line":
            place = (frame.f_code.co_filename, frame.f_lineno)
            seen[place] = seen.get(place, 0) + 1
            act(place, seen[place])
        return on_line

    def on_call(frame, event, argument):
        if frame.f_code.co_filename not in files or frame.f_code.co_name == "__del__":  # an error there goes nowhere
            return None
        entered = set()
        resumed = frame.f_lineno != frame.f_code.co_firstlineno  # a generator, which has entered its blocks

        def on_line_but_no_end(frame, event, argument):
            # A `with` is seen again at its end, where no signal can come: CPython looks for them after calls.
            if linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip().startswith("with "):
                if resumed or frame.f_lineno in entered:
                    return on_line_but_no_end
                entered.add(frame.f_lineno)
            on_line(frame, event, argument)
            return on_line_but_no_end

        return on_line_but_no_end

    before = sys.gettrace()
    sys.settrace(on_call)
    try:
        work()
    finally:
        sys.settrace(before)
    return seen
