"""OPS309: A probe on an NPU ended without an answer for the operator."""

from opscan.rules.interface import Rule, Text

RULE = Rule(
    code="OPS309",
    name="probe-undecided",
    severity="info",
    verdict="unknown",
    title=Text(
        "not decided by the probe",
        "探测未得出结论",
    ),
    message=Text(
        "{operator} for {dtypes} did not come to an end on {soc}: {detail}",
        "{operator} 以 {dtypes} 在 {soc} 上未能运行完毕：{detail}",
    ),
    why=Text(
        "It ran out of memory or of time, or the device was lost meanwhile: that may be the state of the machine rather than the operator.",
        "内存或时间耗尽，或设备在此期间掉线：这可能是机器状态所致，而非算子本身的问题。",
    ),
    fix=Text(
        "Probe again on an idle device, with a longer --time-limit or smaller inputs.",
        "在空闲设备上再次探测，使用更长的 --time-limit 或更小的输入。",
    ),
    example="opscan probe model.py --time-limit 300",
)
