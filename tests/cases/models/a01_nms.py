import torch,torch.nn as nn
lib=torch.library.Library('torchvision','FRAGMENT')
if not hasattr(torch.ops.torchvision,'nms'):
    lib.define('nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor')
    lib.impl('nms',lambda dets,scores,iou_threshold: torch.arange(1),'CPU')
class M(nn.Module):
    def forward(s,b,sc): return b[torch.ops.torchvision.nms(b,sc,0.5)]


def build_model():
    return M()


def example_inputs():
    return torch.rand(8,4),torch.rand(8)
