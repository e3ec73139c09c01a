"""Which arithmetic kernel runs. Set the environment variable ``PINCITE_KERNEL`` to force one."""

from pincite._core import available_kernels, default_kernel

__all__ = ["available_kernels", "default_kernel"]
