"""The environment variables that decide how torch_npu and CANN run. No others are read, shown or stored.

Meanings: "Environment variables" of Ascend Extension for PyTorch (7.1.0, 7.2.0; docs/zh/environment_variable_reference
of Ascend/pytorch) and of CANN (8.2.RC1), and what ``set_env.sh`` of an installed toolkit sets.
"""

from __future__ import annotations

import re

from opscan.doctor.facts import Places

#: Every variable that is looked at.
KNOWN = (
    "ACL_OP_COMPILER_CACHE_DIR",
    "ACL_OP_COMPILER_CACHE_MODE",
    "ASCEND_AICPU_PATH",
    "ASCEND_CUSTOM_OPP_PATH",
    "ASCEND_GLOBAL_LOG_LEVEL",
    "ASCEND_HOME_PATH",
    "ASCEND_LAUNCH_BLOCKING",
    "ASCEND_OPP_PATH",
    "ASCEND_RT_VISIBLE_DEVICES",
    "ASCEND_SLOG_PRINT_TO_STDOUT",
    "ASCEND_TOOLKIT_HOME",
    "ASCEND_VISIBLE_DEVICES",
    "COMBINED_ENABLE",
    "CPU_AFFINITY_CONF",
    "HCCL_CONNECT_TIMEOUT",
    "HCCL_EXEC_TIMEOUT",
    "INF_NAN_MODE_ENABLE",
    "INF_NAN_MODE_FORCE_DISABLE",
    "LD_LIBRARY_PATH",
    "MULTI_STREAM_MEMORY_REUSE",
    "PYTHONPATH",
    "PYTORCH_NO_NPU_MEMORY_CACHING",
    "PYTORCH_NPU_ALLOC_CONF",
    "STREAMS_PER_DEVICE",
    "TASK_QUEUE_ENABLE",
    "TORCHINDUCTOR_NPU_BACKEND",
    "TORCH_DEVICE_BACKEND_AUTOLOAD",
    "TORCH_NPU_LOGS",
    "TORCH_TRANSFER_TO_NPU",
)

#: What stands before the host in an address, and behind the path: where people put passwords and tokens.
_SECRETS = re.compile(r"(?<=://)[^/\s@]+@|(?<=\?)[^\s#]+")


def read_variables(places: Places) -> dict[str, str]:
    """The known variables that are set. An address in one loses its credentials."""
    return {name: _SECRETS.sub("", places.variables[name]) for name in KNOWN if name in places.variables}
