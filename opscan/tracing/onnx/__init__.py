"""ONNX: files that are given, and what torch's exporters make of a model."""
