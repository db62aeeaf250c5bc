"""Observing instead of predicting: the real torch_npu on a simulated CANN runtime, and real NPUs.

``simulator`` builds the runtime, ``environment`` finds an interpreter that has torch_npu, ``rehearsal`` runs a model
there; ``pool`` and its worker try operators on real devices. Nothing else in opscan imports torch_npu.
"""
