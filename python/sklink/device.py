"""Devices, and what is queued on them: streams and events."""
import atexit
import ctypes
import os
import threading
import weakref
from collections import deque
from ctypes import c_double, c_void_p
from typing import Any, Deque, List, MutableSet, Optional, Tuple, Union

from .libskrt import DeviceOptions, call, file_name, number, own, raw, ready

GUARD, CHECK_RACES, CHECK_SPLIT = 1, 2, 4


def close(handle: c_void_p, _: Any) -> None:
    raw["device_close"](handle)


class Device:
    """Cores that run packages: the host's processors or, with a name such as "a3" or the path of a profile, a simulated
    device. The options are those of skrt_device_options (skrt.h): 0 is the default."""

    def __init__(
        self,
        name: Union[str, "os.PathLike[str]", None] = None,
        *,
        cores: int = 0,
        timeout_ms: int = 0,
        seed: int = 0,
        stack_size: int = 0,
        checks: int = 0,
    ):
        options = DeviceOptions(
            device=None if name is None else file_name(name),
            cores=number("cores", cores, 32),
            timeout_ms=number("timeout_ms", timeout_ms, 32),
            seed=number("seed", seed, 64),
            stack_size=number("stack_size", stack_size, 64),
            checks=number("checks", checks, 64),
        )
        self._handle = own(self, None, close, "device_open", ctypes.byref(options))


_default: List[Device] = []
_default_lock = threading.Lock()


def device_or_default(device: Optional[Device]) -> Device:
    """The given device, or the default one: the host, opened at its first use and shared."""
    if device is not None:
        return device
    with _default_lock:
        if not _default:
            _default.append(Device())
        return _default[0]


# Kept until a launch has ended: its instance, the list that takes the instance back, and its arrays.
Pending = Deque[Tuple[Any, List[Any], Any]]


def release(pending: Pending, count: int) -> None:
    for _ in range(count):
        instance, idle, _arrays = pending.popleft()
        idle.append(instance)


def end_stream(handle: c_void_p, kept: Tuple[Device, Pending]) -> None:
    raw["synchronise"](handle)
    raw["stream_destroy"](handle)
    release(kept[1], len(kept[1]))


_streams: "MutableSet[Stream]" = weakref.WeakSet()


@atexit.register
def wait_for_all() -> None:
    """Waits for running launches before the interpreter ends, since they use its arrays."""
    for stream in list(_streams):
        raw["synchronise"](stream._handle)


class Stream:
    """A queue: launches on it run in order. It keeps the arrays of its launches until it has been waited for, and waits
    before it is destroyed."""

    def __init__(self, device: Optional[Device] = None):
        self.device = device_or_default(device)
        self._pending: Pending = deque()
        self._waiting = threading.Lock()  # only one thread at a time releases ended launches
        self._handle = own(self, (self.device, self._pending), end_stream, "stream_create", self.device._handle)
        _streams.add(self)

    def synchronise(self) -> None:
        """Waits until all launches have ended, and raises the first failure since the last call."""
        with self._waiting:
            count = len(self._pending)
            try:
                call("synchronise", self._handle)
            finally:
                release(self._pending, count)

    def query(self) -> bool:
        """Whether all launches have ended; synchronise() raises their failures."""
        return ready("stream_query", self._handle)

    def wait(self, event: "Event") -> None:
        """Delays later launches until the event, as recorded so far, has been reached."""
        call("stream_wait", self._handle, event._handle)


def end_event(handle: c_void_p, _: Any) -> None:
    raw["event_synchronise"](handle)
    raw["event_destroy"](handle)


class Event:
    """A mark in a stream. Waiting for it frees nothing: arrays stay until their stream has been waited for."""

    def __init__(self, device: Optional[Device] = None):
        self.device = device_or_default(device)
        self._handle = own(self, self.device, end_event, "event_create", self.device._handle)

    def record(self, stream: Stream) -> None:
        call("event_record", self._handle, stream._handle)

    def query(self) -> bool:
        """Whether the event has been reached, or was never recorded."""
        return ready("event_query", self._handle)

    def synchronise(self) -> None:
        call("event_synchronise", self._handle)

    def elapsed(self, end: "Event") -> float:
        """Seconds from this one to the other."""
        seconds = c_double()
        call("event_elapsed", self._handle, end._handle, ctypes.byref(seconds))
        return seconds.value
