"""Code written for CUDA: what names the device, and packages whose kernels are compiled for it."""
