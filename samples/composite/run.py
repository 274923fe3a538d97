#!/usr/bin/env python3
"""Runs the package from Python, with nothing but ctypes: run.py LIBSKRT PACKAGE [INPUT...]

The memory is libskrt's, so that it is aligned; NumPy arrays that are aligned to 64 bytes could be bound as they are.
"""
import ctypes
import sys

ELEMENTS = 16
F32 = 11  # enum skrt_dtype


class DeviceOptions(ctypes.Structure):  # struct skrt_device_options
    _fields_ = [
        ("size", ctypes.c_size_t),
        ("device", ctypes.c_char_p),
        ("cores", ctypes.c_uint32),
        ("timeout_ms", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("stack_size", ctypes.c_uint64),
        ("checks", ctypes.c_uint64),
    ]


class Skrt:
    """The library's functions: one that fails raises what skrt_error() says."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.skrt_error.restype = ctypes.c_char_p

    def __getattr__(self, name):
        function = getattr(self.lib, "skrt_" + name)

        def call(*arguments):
            if function(*arguments) != 0:
                raise RuntimeError(self.lib.skrt_error().decode())

        return call


def main():
    if len(sys.argv) < 3:
        sys.exit("usage: run.py LIBSKRT PACKAGE [INPUT...]")
    skrt = Skrt(sys.argv[1])
    options = DeviceOptions(size=ctypes.sizeof(DeviceOptions), device=b"host", timeout_ms=10000)
    device, module, instance, stream, x, y = (ctypes.c_void_p() for _ in range(6))
    shape = (ctypes.c_uint64 * 2)(4, 4)

    skrt.device_open(ctypes.byref(options), ctypes.byref(device))
    skrt.module_load(device, sys.argv[2].encode(), ctypes.byref(module))
    skrt.instance_create(module, ctypes.byref(instance))
    skrt.stream_create(device, ctypes.byref(stream))
    for name, memory in ((b"x", x), (b"y", y)):
        skrt.allocate(device, ctypes.c_uint64(ELEMENTS * 4), ctypes.byref(memory))
        skrt.instance_bind_array(instance, name, F32, 2, shape, memory)

    inputs = ctypes.cast(x, ctypes.POINTER(ctypes.c_float))
    outputs = ctypes.cast(y, ctypes.POINTER(ctypes.c_float))
    values = [float(value) for value in sys.argv[3:]] or range(ELEMENTS)
    for i, value in enumerate(values):
        inputs[i] = value
    skrt.launch_network(stream, instance)
    skrt.synchronise(stream)
    print(*("%g" % outputs[i] for i in range(ELEMENTS)))

    skrt.stream_destroy(stream)
    skrt.instance_destroy(instance)
    skrt.module_unload(module)
    skrt.free(device, x)
    skrt.free(device, y)
    skrt.device_close(device)


if __name__ == "__main__":
    try:
        main()
    except (RuntimeError, OSError) as error:
        sys.exit("run.py: %s" % error)
