"""What sizes mean on an NPU: gears for those that vary, and blocks that they fill. No torch, no I/O."""
