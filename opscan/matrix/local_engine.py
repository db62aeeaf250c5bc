"""Operators that the graph engine carries out itself, without a kernel.

It does so while it compiles, by changing a tensor's description, or in the runtime. No list of kernels has to name
them. Source: ``compiler/engines/local_engine/ops_kernel_store/op`` and
``compiler/engines/rts_engine/ops_kernel_store/op`` of hicann/ge @ffdcbc9f7496.
"""

from __future__ import annotations

_NAMES = """
    AippData Bitcast Case Cmo ConditionCalc Const ConstPlaceHolder Constant ControlTrigger Data
    DestroyTemporaryVariable Empty End Enter Exit ExpandDims FileConstant Flatten FlattenV2 For GatherShapes
    GuaranteeConst Identity IdentityN If IsVariableInitialized LabelGoto LabelGotoEx LabelSet LabelSwitch
    LabelSwitchByIndex LoopCond MemcpyAddrAsync MemcpyAsync Merge ModelExit NPUClearFloatDebugStatus
    NPUClearFloatStatus NPUClearFloatStatusV2 NPUGetFloatDebugStatus NPUGetFloatStatus NPUGetFloatStatusV2
    NetOutput NextIteration NoOp OpTiling PartitionedCall PhonyConcat PhonySplit Placeholder PlaceholderV2
    PlaceholderWithDefault PreventGradient QueueData Rank ReFormat ReadVariableOp Recv RecvMem RecvNotify
    RefData RefEnter RefExit RefIdentity RefMerge RefNextIteration RefSwitch Reshape Send SendMem SendNotify
    Shape ShapeN Size Snapshot Squeeze SqueezeV2 SqueezeV3 Stack StackClose StackPop StackPush
    StatefulPartitionedCall StatelessCase StatelessIf StatelessWhile StopGradient StreamActive StreamMerge
    StreamSwitch StreamSwitchN Switch TemporaryVariable TransShape UnfedData Unsqueeze UnsqueezeV2 UnsqueezeV3
    VarHandleOp VarIsInitializedOp Variable VariableV2 While _If _Retval _While
"""

LOCAL = frozenset(_NAMES.split())
