import torch,torch.nn as nn,torch.nn.functional as F
class M(nn.Module):
    def __init__(s):
        super().__init__();s.e=nn.Embedding(10,4)
    def forward(s,input_ids,**kw):
        y=s.e(input_ids); return {'y':y} if kw.get('return_dict') else y
m=M();args=(torch.ones(1,3,dtype=torch.long),);kwargs=dict(return_dict=True)


def build_model():
    return m


def example_inputs():
    return tuple(args), dict(globals().get("kwargs", {}))
