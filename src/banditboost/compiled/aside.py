"""Compiling is done aside: in a thread of its own, which no exception from outside reaches.

Python lets such an exception (Ctrl-C, a time limit, any signal handler that raises) into the main thread.
Numba and LLVM do not withstand it: the process may crash, or never compile anything again. So a caller waits
for another thread. An exception from outside ends the waiting at once. The work goes on, and whoever needs it
next waits for it: Numba's lock lets one thread compile at a time.

A thread inside of LLVM survives neither a fork nor the end of the interpreter. So a fork waits until the work
is done, and the end waits until it can be given up.
"""

from __future__ import annotations

import _thread
import atexit
import gc
import os
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from types import FrameType
from typing import Any

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

_PATIENCE = 0.1  # seconds; but for Linux, who waits for a lock hears of signals only in between
_AT_WORK: set[_Work] = set()
_ENDING: list[bool] = []


def aside(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns or raises, which is called in a thread of its own.

    If an exception from outside ends the waiting, the function is called to its end all the same.
    """
    if _is_waited_for():
        return function(*arguments)
    work = _Work(partial(function, *arguments))
    try:
        _thread.start_new_thread(work.run, ())
    except RuntimeError as error:
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise  # by a signal handler
        return function(*arguments)  # there is no thread to be had
    try:
        work.wait()
    except BaseException:
        work.leave()
        raise
    return work.outcome()


def give_up_at_the_end() -> None:
    """Called where compiling can be given up, which it is if the interpreter waits to end."""
    if _ENDING:
        raise _EndError


def _is_waited_for() -> bool:
    """Whether another thread would wait for a lock that this one has, and both for ever."""
    return _is_inside_compiler() or _is_importing()


def _is_inside_compiler() -> bool:
    """Whether this thread compiles already, or an exception from outside has left it the lock of LLVM."""
    llvm = getattr(getattr(ffi.lib, "_lock", None), "_lock", None)
    return bool(global_compiler_lock.is_locked() or (llvm is not None and llvm._is_owned()))


def _is_importing() -> bool:
    """Whether this thread imports a module, which Numba asks for if kernels are defined there."""
    frame: FrameType | None = sys._getframe()
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib."):
        frame = frame.f_back
    return frame is not None


class _EndError(SystemExit):
    """Ends what is being compiled, and a thread that waits for it, without a word."""


class _Work:
    """One call in a thread of its own.

    Meanwhile nobody looks for garbage, which takes a tenth of the time: most objects live on.
    """

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call, self._context = call, copy_context()
        self._result: Any = None
        self._error: BaseException | None = None
        self._bell = _thread.allocate_lock()
        self._bell.acquire()
        self._is_done = self._is_left = self._collects_later = False

    def run(self) -> None:
        """What the thread does. Nothing interrupts it."""
        _AT_WORK.add(self)
        sys.settrace(threading.gettrace())  # as every thread does that `threading` starts
        try:
            self._stop_collecting()
            self._result = self._context.run(self._call)
        except BaseException as error:
            self._error = error
        finally:
            self._collect_again()
            self._is_done = True
            _AT_WORK.discard(self)
            self._bell.release()

    def wait(self) -> None:
        """Wait until it is done."""
        while not self._is_done:
            if self._bell.acquire(timeout=_PATIENCE):
                self._bell.release()  # for others who wait

    def leave(self) -> None:
        """Called when nobody waits any more: the caller goes on as it is used to."""
        self._is_left = True
        self._collect_again()

    def outcome(self) -> Any:
        """What the call has returned or raised."""
        if self._error is None:
            return self._result
        try:
            raise self._error
        finally:
            self._error = None  # which refers to this frame

    def _stop_collecting(self) -> None:
        self._collects_later = gc.isenabled()
        gc.disable()
        if self._is_left:
            self._collect_again()

    def _collect_again(self) -> None:
        if self._collects_later:
            gc.enable()
            self._collects_later = False


def _wait_for_all() -> None:
    """Wait until nothing is compiled; an exception from outside is raised after that."""
    held: BaseException | None = None
    while _AT_WORK:
        try:
            for work in list(_AT_WORK):
                work.wait()
        except BaseException as error:
            held = error
    if held is not None:
        raise held


def _end() -> None:
    _ENDING.append(True)
    with suppress(BaseException):  # there is an end already
        _wait_for_all()
    _ENDING.clear()


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_all, after_in_child=_AT_WORK.clear)
