"""What programs say on a terminal: a pseudo terminal, of which tests have the other end."""
import os


def all_said(terminal):
    """All that is said until nobody has the other end any more."""
    text = b""
    try:
        while piece := os.read(terminal, 4096):
            text += piece
    except OSError:
        pass
    return text.decode(errors="replace")
