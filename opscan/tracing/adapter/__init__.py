"""What torch_npu does with operators, where stock torch would do otherwise."""
