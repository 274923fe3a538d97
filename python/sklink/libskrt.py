"""libskrt in ctypes: finds the library, declares its functions, and makes exceptions of the statuses that they return.

The library is the file that SKLINK_LIBRARY names; else the one that was installed with this package; else libskrt.so.0
on the system's paths (LD_LIBRARY_PATH, ldconfig). ctypes.CDLL releases the interpreter's lock while a function runs.
"""
import ctypes
import errno
import operator
import os
import weakref
from ctypes import POINTER, c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any, Callable, ClassVar, Dict, List, Sequence, Union

from . import configured

__version__ = configured.VERSION


class Error(Exception):
    """The message of a failed call of libskrt; status is its name, such as "SKRT_KERNEL_FAILED"."""

    def __init__(self, message: str, status: str = ""):
        super().__init__(message)
        self.status = status


class MissingFileError(Error, FileNotFoundError):
    """A file for libskrt does not exist."""

    def __init__(self, message: str, status: str = ""):
        super().__init__(message, status)
        self.errno = errno.ENOENT


def number(name: str, value: Any, bits: int) -> int:
    """The value as an unsigned number of so many bits for the library: ctypes would drop bits that do not fit."""
    whole = operator.index(value)
    if not 0 <= whole < 1 << bits:
        raise OverflowError(f"{name} is to be from 0 to {(1 << bits) - 1}, not {whole}")
    return whole


def file_name(path: Union[str, bytes, "os.PathLike[str]"]) -> bytes:
    """The path for the library, which would cut it at a null character."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError(f"the path {os.fsdecode(name)!r} has a null character in it")
    return name


class Sized(ctypes.Structure):
    """A struct of skrt.h, which begins with its size."""

    _fields_: ClassVar[Sequence[Any]] = [("size", c_size_t)]

    def __init__(self, **fields: Any):
        super().__init__(size=ctypes.sizeof(self), **fields)


class DeviceOptions(Sized):  # struct skrt_device_options
    _fields_ = [
        ("device", c_char_p),
        ("cores", c_uint32),
        ("timeout_ms", c_uint32),
        ("seed", c_uint64),
        ("stack_size", c_uint64),
        ("checks", c_uint64),
    ]


class TensorInfo(Sized):  # struct skrt_tensor
    _fields_ = [
        ("name", c_char_p),
        ("dtype", c_int),
        ("role", c_int),
        ("rank", c_uint32),
        ("shape", c_uint64 * 8),
        ("bytes", c_uint64),
        ("padding", c_uint64),
    ]


class Source(Sized):  # struct skrt_source
    _fields_ = [
        ("path", c_char_p),
        ("memory", c_char_p),
        ("bytes", c_uint64),
        ("use_descriptor", c_int),
        ("descriptor", c_int),
        ("name", c_char_p),
        ("imports", c_void_p),
        ("import_count", c_uint32),
        ("check_integrity", c_int),
        ("public_key", c_char_p),
        ("weights", c_char_p),
        ("use_weights_descriptor", c_int),
        ("weights_descriptor", c_int),
    ]


class NetworkInfo(Sized):  # struct skrt_network
    _fields_ = [
        ("name", c_char_p),
        ("first_tensor", c_uint32),
        ("tensor_count", c_uint32),
        ("first_kernel", c_uint32),
        ("kernel_count", c_uint32),
        ("first_task", c_uint32),
        ("task_count", c_uint32),
    ]


class DimensionInfo(Sized):  # struct skrt_dimension
    _fields_ = [
        ("name", c_char_p),
        ("network", c_char_p),
        ("least", c_uint64),
        ("most", c_uint64),
        ("multiple", c_uint64),
        ("usual", c_uint64),
    ]


class ExtentInfo(Sized):  # struct skrt_extent
    _fields_ = [("present", c_uint64), ("is_shown", c_int), ("tensor", c_uint32)]


# The functions that return a status, with the types of their arguments.
FUNCTIONS: Dict[str, List[Any]] = {
    "device_open": [POINTER(DeviceOptions), POINTER(c_void_p)],
    "device_close": [c_void_p],
    "module_load_from": [c_void_p, POINTER(Source), POINTER(c_void_p)],
    "module_unload": [c_void_p],
    "module_tensor": [c_void_p, c_uint32, POINTER(TensorInfo)],
    "module_dimension": [c_void_p, c_uint32, POINTER(DimensionInfo)],
    "module_network": [c_void_p, c_uint32, POINTER(NetworkInfo)],
    "instance_create": [c_void_p, POINTER(c_void_p)],
    "instance_create_for": [c_void_p, c_char_p, POINTER(c_void_p)],
    "instance_destroy": [c_void_p],
    "instance_bind": [c_void_p, c_uint32, c_void_p, c_uint64],
    "instance_bind_array": [c_void_p, c_char_p, c_int, c_uint32, POINTER(c_uint64), c_void_p],
    "instance_set_dimension": [c_void_p, c_char_p, c_uint64],
    "instance_dimension": [c_void_p, c_uint32, POINTER(ExtentInfo)],
    "instance_tensor": [c_void_p, c_uint32, POINTER(TensorInfo)],
    "stream_create": [c_void_p, POINTER(c_void_p)],
    "stream_destroy": [c_void_p],
    "stream_query": [c_void_p],
    "stream_wait": [c_void_p, c_void_p],
    "launch_network": [c_void_p, c_void_p],
    "copy": [c_void_p, c_void_p, c_void_p, c_uint64],
    "synchronise": [c_void_p],
    "event_create": [c_void_p, POINTER(c_void_p)],
    "event_destroy": [c_void_p],
    "event_record": [c_void_p, c_void_p],
    "event_query": [c_void_p],
    "event_synchronise": [c_void_p],
    "event_elapsed": [c_void_p, c_void_p, POINTER(c_double)],
}


def load() -> ctypes.CDLL:
    installed = configured.LIBRARY if os.path.exists(configured.LIBRARY) else "libskrt.so.0"
    path = os.environ.get("SKLINK_LIBRARY") or installed
    try:
        loaded = ctypes.CDLL(path)
        loaded.skrt_version.restype = loaded.skrt_error.restype = loaded.skrt_status_name.restype = c_char_p
    except (OSError, AttributeError) as error:
        raise ImportError(
            f"sklink cannot use libskrt: {error}. It was to be installed as {configured.LIBRARY}; "
            "SKLINK_LIBRARY can name the file if it is elsewhere."
        ) from None
    version = loaded.skrt_version().decode()
    if version != __version__:
        raise ImportError(f"sklink {__version__} for Python does not go with libskrt {version}: {path}")
    return loaded


lib = load()


def check(status: int, *_: Any) -> int:
    if status:
        text, name = lib.skrt_error().decode(errors="replace"), lib.skrt_status_name(status).decode()
        missing = status in (CANNOT_READ, NOT_FOUND) and text.endswith(os.strerror(errno.ENOENT))
        raise (MissingFileError if missing else Error)(text, name)
    return status


def declare(name: str) -> Callable[..., int]:
    function = lib["skrt_" + name]
    function.argtypes = FUNCTIONS[name]
    return function


# call() raises failures; `raw` has the functions that return a status, for destruction and for queries.
raw = {name: declare(name) for name in FUNCTIONS}
CANNOT_READ, NOT_FOUND, NOT_READY = 3, 6, 10  # enum skrt_status


def call(name: str, *arguments: Any) -> None:
    check(raw[name](*arguments))


def ready(name: str, handle: c_void_p) -> bool:
    """Queries a stream or an event."""
    status = raw[name](handle)
    return status != NOT_READY and not check(status)


def own(owner: Any, parent: Any, end: Callable[..., Any], create: str, *arguments: Any) -> c_void_p:
    """Makes an object of the library. When its owner is collected, end(handle, parent) is called; until then its parent
    stays. Objects that exist when the interpreter ends are freed with the process."""
    handle = c_void_p()
    call(create, *arguments, ctypes.byref(handle))
    weakref.finalize(owner, end, handle, parent).atexit = False
    return handle
