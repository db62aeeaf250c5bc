"""A whole model on a device, module by module: which is the first whose output departs from what it should be?

``comparing`` runs it, in a process that has the device; ``report`` is what it returns, and needs no torch.
"""
