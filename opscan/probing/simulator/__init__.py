"""A stand-in for CANN's libraries, compiled for one torch_npu: it launches nothing and writes down everything."""
