import triton


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
