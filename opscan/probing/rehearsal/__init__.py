"""A model run by the real torch_npu on the simulated runtime: ``tracer`` runs it, ``recorder`` writes down what the
adapter did for every operator, ``shadow`` computes on the CPU what the runtime does not.
"""
