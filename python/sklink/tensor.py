"""A network's tensors in NumPy: types, shapes, alignment, and the padding after them."""
import math
import operator
import sys
from dataclasses import dataclass
from typing import Any, Optional, Sequence, Tuple, Union

import numpy
from numpy.typing import DTypeLike, NDArray

ALIGNMENT = 64

# enum skrt_dtype: our word for the type, and NumPy's; bf16 is as uint16, since NumPy has none.
DTYPES = {
    1: ("i8", "int8"),
    2: ("u8", "uint8"),
    3: ("i16", "int16"),
    4: ("u16", "uint16"),
    5: ("i32", "int32"),
    6: ("u32", "uint32"),
    7: ("i64", "int64"),
    8: ("u64", "uint64"),
    9: ("f16", "float16"),
    10: ("bf16", "uint16"),
    11: ("f32", "float32"),
    12: ("f64", "float64"),
    13: ("bool", "bool"),
}
CODES = {word: code for code, (word, _) in DTYPES.items()}


def empty(shape: Union[int, Sequence[int]], dtype: DTypeLike = float, padding: int = 0) -> NDArray[Any]:
    """numpy.empty with the alignment that packages need, so that nothing is copied, and with padding bytes after it."""
    extents = [operator.index(extent) for extent in (shape if numpy.iterable(shape) else [shape])]
    size = math.prod(extents) * numpy.dtype(dtype).itemsize
    if min([padding, *extents]) < 0:
        raise ValueError(f"extents and padding are not negative: {extents}, {padding}")
    if size + padding + ALIGNMENT > sys.maxsize:
        raise OverflowError(f"an array of {size} bytes is too large")
    memory = numpy.empty(size + padding + ALIGNMENT, numpy.uint8)
    return numpy.ndarray(extents, dtype, memory.data, -memory.ctypes.data % ALIGNMENT)


def room(array: NDArray[Any]) -> int:
    """The bytes from the array's first one to the end of the memory that it is a part of."""
    whole = array
    while isinstance(whole.base, numpy.ndarray):
        whole = whole.base
    if not whole.flags.c_contiguous:
        return array.nbytes
    return whole.ctypes.data + whole.nbytes - array.ctypes.data


@dataclass(frozen=True)
class Tensor:
    """An input or an output of a network; state is both."""

    name: str
    type: str  # sklink's name: "bf16"
    dtype: "numpy.dtype[Any]"
    shape: Tuple[int, ...]
    padding: int  # bytes after it that kernels may read
    is_input: bool
    is_output: bool
    varies: bool = False  # the package's sizes vary, and these are the largest ones

    def __str__(self) -> str:
        return f"{self.name}: {self.type}{list(self.shape)}"

    def empty(self, shape: Optional[Sequence[int]] = None) -> NDArray[Any]:
        """An array for it, which is never copied; its contents are undefined. If sizes vary, it can have a shape of its
        own."""
        return empty(self.shape if shape is None else shape, self.dtype, self.padding)

    def fits(self, shape: Tuple[int, ...]) -> bool:
        """Whether an array can have the shape; libskrt compares sizes that vary."""
        if not self.varies:
            return shape == self.shape
        return len(shape) == len(self.shape) and all(map(operator.le, shape, self.shape))

    def check(self, array: Any) -> None:
        """Raises an error if the array cannot be this tensor."""
        if not isinstance(array, numpy.ndarray):
            raise TypeError(f"tensor '{self.name}' is to be a numpy.ndarray, not {type(array).__name__}")
        if isinstance(array, numpy.ma.MaskedArray):
            raise TypeError(
                f"tensor '{self.name}': the array is masked, which kernels would not notice; .filled() has all elements"
            )
        if array.dtype != self.dtype or not self.fits(array.shape):
            alias = "" if self.type != "bf16" else ", as uint16"
            raise ValueError(
                f"tensor '{self.name}' is {'at most ' * self.varies}{self.type}{list(self.shape)}{alias}; "
                f"the array is {array.dtype}{list(array.shape)}"
            )
        if self.is_output and not array.flags.writeable:
            raise ValueError(f"tensor '{self.name}' is written; the array is read-only")

    def obstacle(self, array: NDArray[Any]) -> str:
        """The reason why kernels cannot use the array's memory in place; "" if they can."""
        if not array.flags.c_contiguous:
            return "is not contiguous"
        if array.ctypes.data % ALIGNMENT:
            return f"is not aligned to {ALIGNMENT} bytes"
        if self.padding and room(array) < array.nbytes + self.padding:
            return f"has no {self.padding} bytes after it for kernels to read"
        return ""

    def dense(self, array: NDArray[Any]) -> NDArray[Any]:
        """The array, or a contiguous copy, for kernels to use in place."""
        if array.flags.c_contiguous:
            return array
        copied = self.empty(array.shape)
        numpy.copyto(copied, array)
        return copied

    def place(self, array: NDArray[Any], copy: bool) -> NDArray[Any]:
        """Memory for kernels: the array's own, or other memory if the array may be copied."""
        obstacle = self.obstacle(array)
        if not obstacle:
            return array
        if not copy:
            raise ValueError(
                f"tensor '{self.name}': the array {obstacle}; Tensor.empty() makes one that need not be copied"
            )
        if not array.flags.c_contiguous:
            raise ValueError(f"tensor '{self.name}': the array {obstacle}, so only run() can copy it")
        return self.empty(array.shape)
