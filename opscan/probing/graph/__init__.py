"""The graph route rehearsed: dynamo, AOT autograd and torchair's own conversion run for real, on a simulated runtime.

torchair's converters are Python; only its core is compiled against CANN. ``inert_core`` stands in for that core,
``conversion`` follows each node through its converter, and ``tracer`` makes an inventory of it. Everything here runs in
a child process whose torch_npu is loaded over the simulated runtime.
"""
