"""What is installed on this machine, whether its parts fit each other, and what has changed since a snapshot.

One file a source of facts (``packages``, ``cann``, ``driver``, ``npu_smi``, ``variables``), ``inspection`` joins them,
``checks`` and its siblings judge. Nothing here imports torch or torch_npu, or runs anything but ``npu-smi``.
"""
