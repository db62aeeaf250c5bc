"""Model references to callables with inputs. Only ``python_file`` and ``inputs.build`` import torch, inside
functions.
"""
