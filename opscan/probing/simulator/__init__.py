"""A stand-in for CANN's libraries, compiled for one torch_npu: it computes nothing and writes down everything.

``symbols`` reads what torch_npu wants of CANN, ``compiler`` finds a compiler, ``build`` makes the libraries in the
user's cache, ``runtime`` and ``events`` read the log within the process that runs on them. The C source is in ``csrc``.
"""
