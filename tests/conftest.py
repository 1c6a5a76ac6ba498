"""One thread of PyTorch's a worker: the workers have the cores among them already.

With more, threads that wait for one that has no core burn those of the others. It is set here
because PyTorch reads it when it is loaded.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
