"""Packages and their networks."""
import ctypes
import itertools
import os
import warnings
from ctypes import c_void_p
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Set, Tuple, Union, overload

import numpy
from numpy.typing import NDArray

from .device import Device, Stream, device_or_default
from .libskrt import (
    NOT_FOUND,
    DimensionInfo,
    ExtentInfo,
    NetworkInfo,
    Source,
    TensorInfo,
    call,
    check,
    file_name,
    lib,
    number,
    own,
    raw,
)
from .tensor import CODES, DTYPES, Tensor

INPUT, OUTPUT, INOUT = 1, 2, 3  # enum skrt_role

Feeds = Mapping[str, NDArray[Any]]
Arrays = Union[NDArray[Any], Feeds, None]
Names = Optional[Sequence[str]]
Results = Dict[str, NDArray[Any]]
Sizes = Optional[Mapping[str, int]]


def unload(handle: c_void_p, _: Any) -> None:
    raw["module_unload"](handle)


def destroy(handle: c_void_p, _: Any) -> None:
    raw["instance_destroy"](handle)


class Module:
    """A package that libskrt has loaded."""

    def __init__(self, device: Device, source: Source):
        self.device = device
        self.handle = own(self, device, unload, "module_load_from", device._handle, ctypes.byref(source))


class Instance:
    """Memory of a network, for one launch at a time."""

    def __init__(self, module: Module, network: str):
        name = [network.encode()] if network else []
        create = "instance_create_for" if name else "instance_create"
        self.handle = own(self, module, destroy, create, module.handle, *name)


def read_dimensions(module: Module, network: str) -> Dict[int, DimensionInfo]:
    """The dimensions of the network, by number."""
    infos = [DimensionInfo() for _ in range(lib.skrt_module_dimension_count(module.handle))]
    for index, info in enumerate(infos):
        call("module_dimension", module.handle, index, ctypes.byref(info))
    return {index: info for index, info in enumerate(infos) if info.network.decode() == network}


def read_tensor(module: Module, index: int, prefix: str, varies: bool) -> Tensor:
    info = TensorInfo()
    call("module_tensor", module.handle, index, ctypes.byref(info))
    word, dtype = DTYPES[info.dtype]
    return Tensor(
        info.name.decode()[len(prefix) :],
        word,
        numpy.dtype(dtype),
        tuple(info.shape[: info.rank]),
        info.padding,
        info.role != OUTPUT,
        info.role != INPUT,
        varies,
    )


def check_sizes(sizes: Sizes) -> None:
    """`sizes` is an argument of its own: an array for a tensor of that name would be taken for it."""
    if sizes is not None and not isinstance(sizes, Mapping):
        raise TypeError(
            f"sizes are to be a dict of dimensions, or None, not {type(sizes).__name__}; "
            "an array for a tensor 'sizes' is given in a dict of all arrays"
        )


class Network:
    """One of a package's networks; a package's only one has the name "". Any number of threads may run it at a time:
    each run has a workspace of its own, which later ones reuse."""

    def __init__(self, module: Module, info: NetworkInfo):
        self.name: str = info.name.decode()
        prefix = self.name and self.name + ":"
        self._module = module
        self._first = info.first_tensor
        self._dimensions = read_dimensions(module, self.name)
        varies = bool(self._dimensions)
        tensors = [read_tensor(module, self._first + i, prefix, varies) for i in range(info.tensor_count)]
        self._tensors = {tensor.name: tensor for tensor in tensors}
        self._idle: List[Instance] = []
        self._left_out: Set[str] = set()  # inputs that nothing uses, of which a warning has told

    def __repr__(self) -> str:
        sides = (", ".join(map(str, side.values())) for side in (self.inputs, self.outputs))
        return f"<sklink.Network {self.name!r}: {' -> '.join(sides)}>"

    @property
    def inputs(self) -> Dict[str, Tensor]:
        """The tensors that are read, by name, state included."""
        return {name: tensor for name, tensor in self._tensors.items() if tensor.is_input}

    @property
    def outputs(self) -> Dict[str, Tensor]:
        """The tensors that are written, by name, state included."""
        return {name: tensor for name, tensor in self._tensors.items() if tensor.is_output}

    @overload
    def run(
        self, names: Names, feeds: Feeds, /, *, copy: bool = True, sizes: Sizes = None
    ) -> List[NDArray[Any]]: ...

    @overload
    def run(
        self,
        array: NDArray[Any],
        /,
        *arrays: NDArray[Any],
        copy: bool = True,
        sizes: Sizes = None,
        **named: NDArray[Any],
    ) -> Results: ...

    @overload
    def run(
        self, arrays: Optional[Feeds] = None, /, *, copy: bool = True, sizes: Sizes = None, **named: NDArray[Any]
    ) -> Results: ...

    def run(self, /, *arrays: Any, copy: bool = True, sizes: Sizes = None, **named: Any) -> Any:
        """Runs the network and returns its outputs by name. Arrays are given by name, or in a dict if a name is "copy",
        "sizes" or not an identifier, or in the order of `inputs`. Inputs and state must be given; missing outputs are
        made.

        run(names, dict) is ONNX Runtime's: it returns a list of the outputs with these names, or (None) of all.

        Arrays that are contiguous and aligned to 64 bytes, as empty() makes them, are used in place. Others are copied
        in and out; with copy=False they are a ValueError.

        In a package with bounds, `sizes` gives dimensions that no array shows, such as {"past": 17}. A dimension that
        neither shows is a ValueError."""
        if len(arrays) == 2 and isinstance(arrays[1], Mapping):
            names = self._names(arrays[0])
            results = self.run(arrays[1], copy=copy, sizes=sizes, **named)
            return [results[name] for name in names]
        check_sizes(sizes)
        given = self._given(arrays, named)
        dense = {name: self._tensors[name].dense(array) for name, array in given.items()} if copy else given
        stream = Stream(self._module.device)
        results = self._queue(stream, dense, copy, sizes)
        stream.synchronise()
        for name in results.keys() & given.keys():
            if dense[name] is not given[name]:
                numpy.copyto(given[name], dense[name])
                results[name] = given[name]
        return results

    def launch(
        self, stream: Stream, /, *arrays: Arrays, copy: bool = True, sizes: Sizes = None, **named: NDArray[Any]
    ) -> Results:
        """Queues a run on the stream, and returns at once: the outputs are valid after a wait for the stream. Arrays
        must be contiguous. Unaligned ones are copied in the stream's order, so that a launch can read the results
        of the launch before."""
        check_sizes(sizes)
        return self._queue(stream, self._given(arrays, named), copy, sizes)

    def _names(self, names: Names) -> List[str]:
        """The given names of outputs, or all."""
        if names is None:
            return list(self.outputs)
        if isinstance(names, str) or not isinstance(names, Sequence):
            raise TypeError(f"names of outputs are to be a list of them, or None, not {type(names).__name__}")
        for name in names:
            if name not in self.outputs:
                raise TypeError(f"there is no output {name!r}; there are {', '.join(map(repr, self.outputs))}")
        return list(names)

    def _by_name(self, arrays: Tuple[Any, ...]) -> Dict[str, NDArray[Any]]:
        """One dict, or arrays in the order of the inputs."""
        if len(arrays) == 1 and (arrays[0] is None or isinstance(arrays[0], Mapping)):
            return dict(arrays[0] or {})
        if len(arrays) > len(self.inputs):
            raise TypeError(f"{len(arrays)} arrays are given; the inputs are {', '.join(map(repr, self.inputs))}")
        return dict(zip(self.inputs, arrays))

    def _given(self, arrays: Tuple[Any, ...], named: Dict[str, NDArray[Any]]) -> Dict[str, NDArray[Any]]:
        """The arrays by name, after a check of their types and shapes."""
        given = self._by_name(arrays)
        for name in given.keys() & named.keys():
            raise TypeError(f"tensor {name!r} is given twice")
        given.update(named)
        for name in [name for name in given if name not in self._tensors and self._is_left_out(name)]:
            del given[name]
        for name, array in given.items():
            if name not in self._tensors:
                raise TypeError(f"there is no tensor {name!r} to give; there are {', '.join(map(repr, self._tensors))}")
            self._tensors[name].check(array)
        missing = [name for name in self.inputs if name not in given]
        if missing:
            raise TypeError(f"inputs are missing: {', '.join(map(repr, missing))}")
        return given

    def _is_left_out(self, name: str) -> bool:
        """Whether nothing uses this input of the model; libskrt takes arrays for it without a look. Warns the first
        time."""
        if name in self._left_out:
            return True
        if not isinstance(name, str) or "\0" in name:
            return False
        instance = self._instance()
        bind = raw["instance_bind_array"]
        found: bool = bind(instance.handle, name.encode(errors="replace"), CODES["f32"], 0, None, None) == 0
        self._idle.append(instance)
        if found:
            self._left_out.add(name)
            warnings.warn(f"nothing in the model uses input {name!r}; the array is not read", stacklevel=4)
        return found

    def _queue(
        self, stream: Stream, given: Dict[str, NDArray[Any]], copy: bool, sizes: Sizes
    ) -> Dict[str, NDArray[Any]]:
        memory = {name: self._tensors[name].place(array, copy) for name, array in given.items()}
        instance = self._instance()
        try:
            self._bind(instance, memory, sizes or {})
        except BaseException:
            self._idle.append(instance)
            raise
        moved = [(name, array) for name, array in given.items() if array is not memory[name]]
        copied = [(self._tensors[name], array, memory[name]) for name, array in moved]
        try:
            for tensor, array, place in copied:
                if tensor.is_input:
                    call("copy", stream._handle, place.ctypes.data, array.ctypes.data, array.nbytes)
            call("launch_network", stream._handle, instance.handle)
            for tensor, array, place in copied:
                if tensor.is_output:
                    call("copy", stream._handle, array.ctypes.data, place.ctypes.data, array.nbytes)
        finally:  # copies may be queued even after a failure
            stream._pending.append((instance, self._idle, [given, memory]))
        return {name: given.get(name, memory[name]) for name in self.outputs}

    def _bind(self, instance: Instance, memory: Dict[str, NDArray[Any]], sizes: Mapping[str, int]) -> None:
        """Binds memory, and new arrays for tensors without any. Its sizes are those of the arrays, then the given
        ones."""
        for dimension in self._dimensions.values():  # shapes of an earlier run show nothing
            call("instance_set_dimension", instance.handle, dimension.name, dimension.usual)
        sized = [name for name in memory if self._dimensions and not self._tensors[name].padding]
        for name in sized:
            place, code = memory[name], CODES[self._tensors[name].type]
            shape = (ctypes.c_uint64 * place.ndim)(*place.shape)
            call("instance_bind_array", instance.handle, name.encode(), code, place.ndim, shape, place.ctypes.data)
        for size, value in sizes.items():
            call("instance_set_dimension", instance.handle, size.encode(), number(f"size '{size}'", value, 64))
        self._solve(instance, {name: memory[name] for name in sized}, sizes)
        for index, (name, tensor) in enumerate(self._tensors.items(), self._first):
            if name in sized:
                continue
            present = self._present(instance, index) if self._dimensions else tensor.shape
            if name not in memory:
                memory[name] = tensor.empty(present)
            place = memory[name]
            if place.shape != present:
                raise ValueError(f"tensor '{name}' is {list(present)} by the other arrays, not {list(place.shape)}")
            call("instance_bind", instance.handle, index, place.ctypes.data, place.nbytes + tensor.padding)

    def _solve(self, instance: Instance, arrays: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        """Sets the dimensions that neither an array nor `sizes` gives, where a length that is the sum of one with known
        ones shows it, as that of a mask [batch, past+seq] does. Raises an error for the first other one. The launch
        compares all shapes."""
        unknown = []
        extent = ExtentInfo()
        for index, dimension in self._dimensions.items():
            call("instance_dimension", instance.handle, index, ctypes.byref(extent))
            if not extent.is_shown and dimension.name.decode() not in sizes and dimension.least < dimension.most:
                unknown.append(dimension)
        lengths = [length for array in arrays.values() for length in array.shape]
        solved = [self._size_of(instance, dimension, unknown, arrays, lengths) for dimension in unknown]
        for dimension, size in zip(unknown, solved):
            if size is None:
                name = dimension.name.decode()
                misfit = self._misfit(instance, dimension, name, arrays) if len(unknown) == 1 else None
                raise ValueError(misfit or self._unknown(instance, dimension, name, arrays))
            call("instance_set_dimension", instance.handle, dimension.name, size)

    def _size_of(
        self,
        instance: Instance,
        dimension: DimensionInfo,
        unknown: Sequence[DimensionInfo],
        arrays: Mapping[str, Any],
        lengths: Sequence[int],
    ) -> Optional[int]:
        """The only size of the dimension at which a length that depends on no other unknown dimension is that of its
        array. All lengths grow with a dimension."""

        def lengths_at(of: DimensionInfo, size: int) -> List[int]:
            call("instance_set_dimension", instance.handle, of.name, size)
            shapes = (self._present(instance, i) for i, name in enumerate(self._tensors, self._first) if name in arrays)
            return [length for shape in shapes for length in shape]

        free = set(range(len(lengths)))
        for other in unknown:
            if other is not dimension:
                pairs = zip(lengths_at(other, other.least), lengths_at(other, other.most))
                free -= {i for i, (least, most) in enumerate(pairs) if least != most}
        least, step = dimension.least, max(dimension.multiple, 1)
        count = (dimension.most - least) // step
        bounds = list(zip(lengths_at(dimension, least), lengths_at(dimension, least + count * step)))
        for i in sorted(free):
            if bounds[i][0] == bounds[i][1]:
                continue
            first, end = 0, count  # the first size at which the length is that of the array, or longer
            while first < end:
                middle = (first + end) // 2
                first, end = (
                    (middle + 1, end)
                    if lengths_at(dimension, least + middle * step)[i] < lengths[i]
                    else (first, middle)
                )
            near = [lengths_at(dimension, least + n * step)[i] for n in range(first, min(first + 1, count) + 1)]
            if near.count(lengths[i]) == 1 and near[0] == lengths[i]:
                return int(least + first * step)
        return None

    def _shapes_at(self, instance: Instance, dimension: DimensionInfo) -> List[List[Tuple[int, ...]]]:
        """The shapes of all tensors at the least and at the largest size of the dimension."""
        shapes = []
        for size in (dimension.least, dimension.most):
            call("instance_set_dimension", instance.handle, dimension.name, size)
            shapes.append([self._present(instance, self._first + i) for i in range(len(self._tensors))])
        return shapes

    def _misfit(
        self, instance: Instance, dimension: DimensionInfo, name: str, arrays: Mapping[str, Any]
    ) -> Optional[str]:
        """The error for an array with a length that no size of the only unknown dimension gives; None: there is none.
        """
        for tensor, *ends in zip(self._tensors.values(), *self._shapes_at(instance, dimension)):
            shape = arrays[tensor.name].shape if tensor.name in arrays else ()
            for axis, (length, least, most) in enumerate(zip(shape, *ends)):
                if least < most and not least <= length <= most:
                    return (
                        f"tensor '{tensor.name}' has {least} to {most} elements along axis {axis} by the other arrays, "
                        f"for '{name}' of {dimension.least} to {dimension.most}; the array has {length}"
                    )
        return None

    def _unknown(self, instance: Instance, dimension: DimensionInfo, name: str, memory: Mapping[str, Any]) -> str:
        """The error for a dimension without a size, with the tensors that have it as an extent."""
        bounds = dimension.least, dimension.most
        shapes = self._shapes_at(instance, dimension)
        having = [tensor for tensor, *pair in zip(self._tensors.values(), *shapes) if bounds in zip(*pair)]
        text = f"dimension '{name}' ({bounds[0]} to {bounds[1]}"
        if dimension.multiple > 1:
            text += f", multiples of {dimension.multiple}"
        text += f") has no size: no array shows it; give sizes={{{name!r}: ...}}"
        free = [tensor.name for tensor in having if tensor.name not in memory and not tensor.padding]
        padded = [tensor.name for tensor in having if tensor.padding]
        if free:
            text += f", or an array of that size for the output {' or '.join(map(repr, free))}"
        if padded:
            text += f" (arrays with padding show no sizes: {', '.join(map(repr, padded))})"
        return text

    @staticmethod
    def _present(instance: Instance, index: int) -> Tuple[int, ...]:
        """The shape of a tensor at the instance's sizes."""
        info = TensorInfo()
        call("instance_tensor", instance.handle, index, ctypes.byref(info))
        return tuple(info.shape[: info.rank])

    def _instance(self) -> Instance:
        try:
            return self._idle.pop()
        except IndexError:
            return Instance(self._module, self.name)


class Package:
    """A package, loaded from a file or from bytes. With a single network, inputs, outputs, run and launch are the
    network's. With several, `networks` has each by its name."""

    networks: Dict[str, Network]

    def __init__(
        self,
        source: Union[str, "os.PathLike[str]", bytes],
        device: Optional[Device] = None,
        *,
        weights: Union[str, "os.PathLike[str]", None] = None,
        check_integrity: bool = False,
        public_key: Optional[bytes] = None,
    ):
        described = Source(check_integrity=bool(check_integrity), public_key=public_key)
        if public_key is not None and len(public_key) != 32:
            raise ValueError(f"a public key has 32 bytes, not {len(public_key)}")
        if weights is not None:
            described.weights = file_name(weights)
        if isinstance(source, bytes):
            described.memory, described.bytes = source, len(source)
        else:
            described.path = file_name(source)
        module = Module(device_or_default(device), described)
        self.networks = {network.name: network for network in read_networks(module)}

    def __repr__(self) -> str:
        return f"<sklink.Package of {', '.join(map(repr, self.networks.values()))}>"

    def _only(self) -> Network:
        if len(self.networks) > 1:
            names = ", ".join(map(repr, self.networks))
            raise ValueError(f"the package has several networks: .networks[...] is {names}")
        return next(iter(self.networks.values()))

    @property
    def inputs(self) -> Dict[str, Tensor]:
        return self._only().inputs

    @property
    def outputs(self) -> Dict[str, Tensor]:
        return self._only().outputs

    @overload
    def run(
        self, names: Names, feeds: Feeds, /, *, copy: bool = True, sizes: Sizes = None
    ) -> List[NDArray[Any]]: ...

    @overload
    def run(
        self,
        array: NDArray[Any],
        /,
        *arrays: NDArray[Any],
        copy: bool = True,
        sizes: Sizes = None,
        **named: NDArray[Any],
    ) -> Results: ...

    @overload
    def run(
        self, arrays: Optional[Feeds] = None, /, *, copy: bool = True, sizes: Sizes = None, **named: NDArray[Any]
    ) -> Results: ...

    def run(self, /, *arrays: Any, copy: bool = True, sizes: Sizes = None, **named: Any) -> Any:
        """See Network.run."""
        return self._only().run(*arrays, copy=copy, sizes=sizes, **named)

    def launch(
        self, stream: Stream, /, *arrays: Arrays, copy: bool = True, sizes: Sizes = None, **named: NDArray[Any]
    ) -> Results:
        """See Network.launch."""
        return self._only().launch(stream, *arrays, copy=copy, sizes=sizes, **named)


def read_networks(module: Module) -> Iterator[Network]:
    for index in itertools.count():
        info = NetworkInfo()
        status = raw["module_network"](module.handle, index, ctypes.byref(info))
        if status == NOT_FOUND:
            return
        check(status)
        yield Network(module, info)
