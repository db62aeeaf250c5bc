import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def forward(s,b,sc):
        o=sc.argsort(descending=True);keep=[]
        while o.numel()>0:
            i=o[0];keep.append(i)
            if o.numel()==1: break
            lt=torch.maximum(b[i,:2],b[o[1:],:2]);rb=torch.minimum(b[i,2:],b[o[1:],2:])
            w=(rb-lt).clamp(min=0).prod(1)
            o=o[1:][w<0.5]
        return torch.stack(keep)
m=M();args=(torch.rand(8,4),torch.rand(8))


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
