"""The graph route without torch_npu: the graph that AOT autograd makes of a model on the virtual device."""
