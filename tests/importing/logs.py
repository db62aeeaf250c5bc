"""Lines after the public formats of each program, in the surroundings that real ones have."""

from __future__ import annotations

#: What must not come out of a log.
SECRETS = ("alice", "sk-4f9d", "10.1.2.3", "build7.example.com", "/home", "hunter2", "Grid_1", "conv_private", "45311")

TORCH_NPU = """\
alice@build7.example.com:/home/alice$ TOKEN=sk-4f9d python train.py --password hunter2 --host 10.1.2.3
[W610 18:26:03.05 VariableFallbackKernel.cpp:250] Warning: CAUTION: The operator 'aten::linalg_eig' is not currently \
supported on the NPU backend and will fall back to run on the CPU. This may have performance implications.
[W compiler_depend.ts:51] Warning: CAUTION: The operator 'aten::special_entr.out' is not currently supported on the \
NPU backend and will fall back to run on the CPU.
[W] Warning: kernel [ArgSort] can not support dtype int32 or int64 on AiCore, Now this kernel is running on AiCpu.
step 161002 loss 0.3 507018 samples, 100000 left
RuntimeError: mm:build/CMakeFiles/torch_npu.dir/compiler_depend.ts:211 NPU function error: call aclnnMm failed, error \
code is 161002
[ERROR] 2026-02-09-17:11:34 (PID:45311, Device:1, RankID:-1) ERR00100 PTA call acl api failed.
[PID: 45311] 2026-02-09-17:11:34.368 AclNN_Parameter_Error(EZ1001): Tensor self not implemented for DT_DOUBLE, should \
be in dtype support list [DT_FLOAT16,DT_BFLOAT16,].
"""

ATC = """\
ATC start working now, please wait for a moment.
ATC run failed, Please check the detail log, Try 'atc --help' for more information
E19010: No parser is registered for Op [/home/alice/Grid_1, optype [ai.onnx::16::GridSample]].
        Solution: Check the version of /home/alice
EZ3003: [PID: 45311] 2024-06-26-16:57:38.215 No supported Ops kernel and engine are found for [conv_private], optype \
[Conv3DTranspose].
        Optype [TransData] of Ops kernel [aicpu_ascend_kernel] is unsupported. Reason: /home/alice
"""

PLOG = """\
[INFO] GE(45311,alice):2024-05-24-21:17:48.149.037 [ir.cc:223]45311 Run: /home/alice error code is 507011
[ERROR] RUNTIME(45311,alice):2024-05-24-21:17:48.149.037 [ir.cc:223]45311 error code is 507018
[ERROR] OP(45311,alice):2024-05-24-21:17:48.149.037 [op.cc:2]45311 Op Pack does not has any binary.
"""

OP_SUMMARY = '''\
Device_id,Model ID,Task ID,Stream ID,Op Name,OP Type,OP State,Task Type,Task Start Time(us),Task Duration(us),\
Task Wait Time(us),Block Dim,Input Shapes,Input Data Types,Output Shapes,Output Data Types
0,1,1,1,aclnnCumsum_CumsumAiCpu_Cumsum,Cumsum,dynamic,AI_CPU,1.0\t,30.5,0,1,"""2,3;""",INT64;INT64,"""2,3""",INT64
0,1,2,1,aclnnCumsum_CumsumAiCpu_Cumsum,Cumsum,dynamic,AI_CPU,2.0\t,10.5,0,1,"""4,3;""",INT64;INT64,"""4,3""",INT64
0,1,3,1,aclnnCumsum_CastAiCore_Cast,Cast,dynamic,AI_VECTOR_CORE,3.0\t,2.0,0,1,"""4,3""",INT64,"""4,3""",INT64
0,1,4,1,/home/alice/conv_private,Conv2D,static,AI_CORE,4.0\t,7.0,0,1,"1,3,8,8;4,3,3,3",FP16;DT_FLOAT16,"""1""",FP16
0,1,5,1,aclnnAdd_AddAiCore_Add,N/A,N/A,N/A,5.0,1.0,0,1,N/A,N/A,N/A,N/A
0,1,N/A,N/A,hcom_allReduce_alice,hcom_allReduce_,N/A,HCCL,6.0,9.0,0,0,N/A,N/A,N/A,N/A
broken
'''

KERNEL_DETAILS = """\
Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us),Block Num
1,0,aclnnMm_MatMulCommon_MatMulV2,MatMulV2,AI_CORE,1.0,420.5,0,8
1,0,my_triton_kernel,my_triton_kernel,AI_VECTOR_CORE,1.0,5.5,0,8
"""

OP_STATISTIC = """\
Device_id,OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
0,MatMulV2,AI_CORE,10,500,1,50,60,50
0,Bincount,AI_CPU,5,150,1,30,35,15
"""
