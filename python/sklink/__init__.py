"""sklink from Python: packages are linked with link(), loaded as a Package, and run on NumPy arrays.

    import numpy, sklink
    package = sklink.Package("composite.sk")
    x = numpy.arange(16, dtype="float32").reshape(4, 4)
    y = package.run(x=x)["y"]

libskrt does the runs; sklink.libskrt finds it. The document python.md lists
everything.
"""
from .device import CHECK_RACES, CHECK_SPLIT, GUARD, Device, Event, Stream
from .libskrt import Error, MissingFileError, __version__
from .linking import LinkError, link
from .package import Network, Package
from .tensor import Tensor, empty

__all__ = [
    "CHECK_RACES",
    "CHECK_SPLIT",
    "Device",
    "Error",
    "Event",
    "GUARD",
    "LinkError",
    "MissingFileError",
    "Network",
    "Package",
    "Stream",
    "Tensor",
    "__version__",
    "empty",
    "link",
]
