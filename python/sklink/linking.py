"""Packages from Python: sklink is called as from a shell."""
import os
import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Union

from . import configured
from .libskrt import Error

PathText = Union[str, "os.PathLike[str]"]


class LinkError(Error):
    """The messages of a failed link."""


def find_sklink() -> str:
    """The program that SKLINK_PROGRAM names; else the one installed with this package; else the one in the path."""
    installed = configured.PROGRAM if os.access(configured.PROGRAM, os.X_OK) else None
    found = os.environ.get("SKLINK_PROGRAM") or installed or shutil.which("sklink")
    if found is None:
        raise LinkError(f"there is no sklink: neither {configured.PROGRAM} nor one in PATH; SKLINK_PROGRAM can name it")
    return found


def link(*arguments: PathText, output: PathText) -> Path:
    """Links a package and returns its path: link("model.onnx", "--dim", "batch=1", "-lskernels", output="model.sk").
    The arguments are those of sklink's command line; its warnings become a Python warning."""
    words = [find_sklink(), *[os.fspath(argument) for argument in arguments], "-o", os.fspath(output)]
    try:
        done = subprocess.run(words, capture_output=True, encoding="utf-8", errors="replace", check=False)
    except OSError as error:
        raise LinkError(f"cannot run {words[0]}: {error.strerror}") from None
    if done.returncode:
        raise LinkError(done.stderr.strip() or f"{words[0]} ended with status {done.returncode}")
    if done.stderr:
        warnings.warn(done.stderr.strip(), stacklevel=2)
    return Path(output)
