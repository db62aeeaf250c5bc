"""Arguments for an operator that respect what it asks of them: indices in range, positive definite matrices, …

``drawing`` joins the rest: ``binding`` reads a signature back, ``kinds`` draws tensors, ``domains`` says which kind a
parameter takes; where arguments depend on each other, one file a thought fills them in.
"""
