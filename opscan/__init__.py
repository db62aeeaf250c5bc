"""opscan tells, before anyone rents or buys an Ascend NPU, whether a PyTorch model will run on it."""

__version__ = "0.1.0"
