import torch,torch.nn as nn
lib=torch.library.Library('torchvision','FRAGMENT')
if not hasattr(torch.ops.torchvision,'deform_conv2d'):
    lib.define('deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask) -> Tensor')
@torch.library.register_fake('torchvision::deform_conv2d')
def _(x,w,offset,mask,bias,sh,sw,ph,pw,dh,dw,g,og,use_mask): return x.new_empty(x.shape[0],w.shape[0],*offset.shape[2:])
class M(nn.Module):
    def __init__(s):
        super().__init__();s.o=nn.Conv2d(3,18,3,padding=1);s.c=nn.Conv2d(3,4,3,padding=1)
    def forward(s,x):
        mask=x.new_zeros(1,1)
        return torch.ops.torchvision.deform_conv2d(x,s.c.weight,s.o(x),mask,s.c.bias,1,1,1,1,1,1,1,1,False)
m=M();args=(torch.randn(1,3,8,8),)


def build_model():
    return m


def example_inputs():
    return args
