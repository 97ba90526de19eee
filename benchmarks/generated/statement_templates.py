"""The templates from which statements are made; `{f}` and so on stand for expressions of a kind of `Pool`.

Beside the kinds of `Pool`: `{n}` is a new name, `{E}` a tensor expression, `{B}` a condition, `{dev}` and `{typ}` a
device and a dtype, `{A}` an array expression, `{K}` a key of the dict before it, `{call}` a call of a function.
"""

from __future__ import annotations

EXPRESSIONS = """
{f} + {f}
{f} * {f}
{f} - {f}
{f} @ {f}
{f} @ {f}.t()
torch.mm({f}, {f})
torch.matmul({f}, {f})
torch.addmm({f}, {f}, {f})
torch.stack([{f}, {f}]).sum(0)
torch.cat([{f}, {f}])[:4]
torch.cat(({f}, {f}), dim=1)[:, :4]
torch.where({f} > 0, {f}, {f})
torch.maximum({f}, {f})
{f}.mul({f})
{f}.add({f}, alpha=2)
{f}.masked_fill({q}, 0.0)
{f} * {s}
{s} + {s}
{s} * {s}.to({dev})
{f}[{i}]
{f}[{i}]
{f}.index_select(0, {i})
{f}[{q}].sum()
F.linear({f}, {f})
F.embedding({i}, {f})
{f}.relu()
torch.sigmoid({f})
{f}.t()
{f}.clone()
{f}.detach()
{f}.double()
{f}.float()
{f}.half()
{t}.to({dev})
{f}.to({dev})
{f}.to({dev})
{f}.cuda()
{f}.cpu()
{f}.to({typ})
{f}.to({dev}, {typ})
{f}.to({t})
{f}.to({t}.device)
{f}.type_as({f})
torch.zeros_like({f})
torch.ones(4, 4, device={dev})
torch.ones(4, 4, device={dev})
torch.ones(4, 4)
torch.rand(4, 4)
torch.ones(4, 4, dtype={typ})
torch.ones(4, 4, device={t}.device)
torch.ones(4, 4, device={f}.device, dtype={f}.dtype)
{f}.new_ones(4, 4)
torch.full((4, 4), 2.0)
torch.eye(4, device={dev})
torch.arange(4)
torch.arange(4, device={dev})
torch.arange(4, device={t}.device)
torch.tensor([0, 1, 2, 3])
torch.tensor([True, False, True, False])
torch.tensor([[0.5] * 4] * 4)
torch.tensor(2.0)
torch.tensor(2.0, device={dev})
{f} > 0
{f}.argmax(1)
{f}.sum()
{f}.mean()
torch.from_numpy({a})
torch.as_tensor({a})
torch.tensor({a})
torch.as_tensor({a}, device={dev})
torch.as_tensor({a}, dtype={typ}, device={dev})
torch.from_numpy({a}).float()
torch.from_numpy({a}).to({f})
{m}({f})
{m}({f})
{m}({f})
{m}({f}.to({dev}))
F.mse_loss({f}, {f})
F.mse_loss({m}({f}), {f})
F.cross_entropy({f}, {i})
F.cross_entropy({f}, {f})
F.binary_cross_entropy_with_logits({f}, {f})
nn.MSELoss()({f}, {f})
nn.Linear(4, 4)({f})
nn.Linear(4, 4).to({dev})({f})
{f}.view(16).view(4, 4)
{f}.reshape(2, 8).reshape(4, 4).contiguous()
{f}[0]
{f}[:2]
({f} if {B} else {f})
{L}[-1]
{L}[{K}]
{D}[{K}]
{D}.get({K})
torch.stack({L}).sum(0)
sum({L})
{f}.copy_({f})
{f}.add_({f})
{f}.mul_({s})
[{f}, {f}][{B}]
{{True: {f}, False: {f}}}[{B}]
max({s}, {s})
(lambda z: z + {f})({f})
{f}.requires_grad_()
nn.Parameter({f})
{call}
{call}
{call}
{call}
{call}
{call}
{o}({f})
""".strip().splitlines()

ARRAYS = """
{t}.numpy()
{f}.cpu().numpy()
{f}.detach().numpy()
{f}.detach().cpu().numpy()
np.ones((4, 4))
np.ones((4, 4), dtype=np.float32)
np.linspace(0, 1, 16).reshape(4, 4)
np.asarray({f})
np.array({f}.tolist())
np.array([t.sum().item() for t in {L}])
np.asarray({f}.cpu())
np.float32({a})
{a} * 2
{a}.astype(np.float32)
{a}.astype("float64")
{a} + {a}
""".strip().splitlines()

CONDITIONS = """
{b}
{b}
{b}
not {b}
{b} and {b}
{b} or {b}
{t}.is_cuda
{t}.is_cuda
not {t}.is_cuda
{t}.device == {t}.device
{t}.device != {t}.device
{t}.device.type == "cuda"
{t}.device.type != "cpu"
{f}.dtype == {f}.dtype
{t}.dtype == torch.float32
{f}.dtype == torch.float64
{t}.is_floating_point()
{t}.dim() == 2
{t}.shape[0] == 4
{t}.requires_grad
isinstance({t}, torch.Tensor)
torch.is_tensor({a})
isinstance({t}, nn.Parameter)
isinstance({L}, list)
{t} is None
{t} is not None
len({L}) > 1
len({L}) == 2
len({D}) > 1
"a" in {D}
"extra" in {D}
torch.cuda.is_available()
torch.cuda.device_count() > 1
{w} == "cuda"
{w} in ("train", "half")
{w}.startswith("cu")
hasattr({o}, "late")
getattr({o}, "flag", False)
isinstance({o}, nn.Module)
{m}.training
next({m}.parameters()).is_cuda
""".strip().splitlines()

STATEMENTS = """
{n} = {E}
{n} = {E}
{n} = {E}
{n} = {E}
{n} = {E}
{n} = {E}
{n} = {E}
{n} = {E}
{v} = {E}
{v} = {E}
{v} = {v}.to({dev})
{v} = {v}.float()
{n} = {v}
{n} = {A}
{n} = {A}
{v} += {f}
{v} = {v} + {f}
{v} *= {s}
{v}.add_({f})
{v}.copy_({f})
{v}[0] = {f}[0]
{v}[:2] = {f}[:2]
{v}[{i}] = {f}
{v}[{q}] = 0.0
{v}.data = {f}
{v}.to({dev})
{v}.double()
{m}.to({dev})
{m}.to({dev})
{m}.cuda()
{m}.cpu()
{m}.double()
{m}.half()
{m}.float()
{n} = {m}.to({dev})
{n} = {m}
{m}.eval()
{L}.append({E})
{L}.append({E})
{L}.insert(0, {E})
{L}.extend([{f}, {f}])
{L} += [{f}]
{L}[0] = {E}
{L}[-1] = {E}
{n} = {L}.pop()
{D}["a"] = {E}
{D}[{K}] = {E}
{D}["extra"] = {E}
{D}.update(b={E})
{n} = {D}.setdefault("c", {E})
{n} = {D}.pop({K})
{n} = [{f}, {f}]
{n} = [{f}, {f}, {E}]
{n} = {{"a": {f}, "b": {f}}}
{n} = {{"a": {E}, {w}: {f}}}
{n} = dict(a={f}, b={E})
{n} = ({f}, {f})
{n}, {n} = {f}, {f}
{v}, {v} = {v}, {v}
{n}, *{n} = {L}
{n} = [z.to({dev}) for z in {L}]
{n} = [z + {f} for z in {L}]
{n} = [z for z in {L} if z.is_cuda]
{n} = {{k: z.to({dev}) for k, z in {D}.items()}}
{n} = {{k: z * 2 for k, z in {D}.items() if k != "a"}}
{n} = tuple(z.to({dev}) for z in {L})
{n} = list(map(lambda z: z.to({dev}), {L}))
{n} = [p + q for p, q in zip({L}, {L})]
{n} = list({L})
{n} = {L}
{n} = {D}
{n} = {L}[::-1]
{n} = {L} + {L}
{n} = list({D}.values())
{n} = dict({D})
{n} = {{**{D}, "b": {f}}}
{n} = dict(zip(["a", "b"], {L}))
{n} = [] if {B} else [{f}]
{n} = {B}
{n} = {E} if {B} else {E}
setattr({o}, "late", {E})
{o}.late = {E}
{o}.extra = {f}
{n} = getattr({o}, "late", {f})
{o}.flag = {B}
{n} = lambda z: z + {f}
{n} = lambda z, w={f}: z @ w
{n} = {o}
{call}
{call}
{n} = {call}
{n}, {n} = {call}
{n} = next(iter({call}))
{n} = {C}()
{n} = {new}
{n} = {new}.to({dev})
{n} = {t}.device
{n} = {t}.dtype
{n} = next({m}.parameters()).device
{m}.load_state_dict({m}.state_dict())
{n} = {m}.state_dict()
assert {B}
""".strip().splitlines()

COMPOUNDS = """
for {n} in {L}:
for {n} in {L}:
for {n}, {n} in enumerate({L}):
for {n}, {n} in zip({L}, {L}):
for {n}, {n} in {D}.items():
for {n} in {D}.values():
for {n} in ({f}, {f}):
for {n} in range(2):
for {n} in {call}:
for {n} in {dev2}:
with torch.no_grad():
with torch.inference_mode():
with torch.cuda.device(1):
""".strip().splitlines()

WHOLE = (
    ["for k in {D}:", "    {D0}[k] = {D0}[k].to({dev})"],
    ["for k, z in {D}.items():", "    {D0}[k] = z.to({dev})"],
    ["for k, z in {D}.items():", "    z = z.to({dev})"],
    ["for j in range(len({L})):", "    {L0}[j] = {L0}[j].to({dev})"],
    ["for j, z in enumerate({L}):", "    {L0}[j] = z.to({dev})"],
    ["for z in {L}:", "    z = z.to({dev})"],
    ["for z in {L}:", "    z.mul_(2)"],
    ["{n} = {f}", "for z in {L}:", "    {n0} = {n0} + z"],
    ["{n} = {f}", "for layer in {M}:", "    {n0} = layer({n0})"],
    ["{n} = {f}", "for layer in {M}:", "    {n0} = layer.to({dev})({n0})"],
    ["for layer in {M}:", "    layer.to({dev})"],
    ["{n} = []", "for z in {L}:", "    {n0}.append(z.to({dev}))"],
    ["{n} = []", "while len({n0}) < 2:", "    {n0}.append({E})"],
    ["{n} = {{}}", "for k, z in zip('abc', {L}):", "    {n0}[k] = z"],
    ["{n} = None", "for z in {L}:", "    {n0} = z if {n0} is None else {n0} + z"],
    ["{n} = None", "if {B}:", "    {n0} = {E}", "if {n0} is not None:", "    {n} = {n00} + {f}"],
    ["{n} = 0", "for z in {L}:", "    {n0} += z.sum()"],
    ["try:", "    {n} = {f} + {f}", "except RuntimeError:", "    {n0} = {E}"],
    ["try:", "    {n} = {f}.numpy()", "except TypeError:", "    {n0} = {f}.cpu().numpy()"],
    ["if not {t}.is_cuda:", "    {v} = {v}.to({dev})"],
    ["if {f}.device != {f}.device:", "    {v} = {v}.to({t}.device)"],
    ["for p in {m}.parameters():", "    p.data = p.data.to({dev})"],
    ["for p in {m}.parameters():", "    p.grad = torch.zeros_like(p)"],
    [
        "{n} = torch.optim.SGD({m}.parameters(), lr=0.1)",
        "for step in range(2):",
        "    {n} = F.mse_loss({m0}({f}), {f})",
        "    {n00}.zero_grad()",
        "    {n0}.backward()",
        "    {n00}.step()",
    ],
    [
        "{n} = torch.optim.Adam({m}.parameters())",
        "{m0}.to({dev})",
        "{n} = F.cross_entropy({m0}({f}), {i})",
        "{n0}.backward()",
        "{n00}.step()",
    ],
    ["{n} = nn.CrossEntropyLoss(weight=torch.ones(4))", "{n} = {n00}({f}, {i})"],
    ["def {n}(z):", "    return z + {f}", "{n} = {n00}({f})"],
)
"""Statements of several lines. A kind with `0` behind it is the expression of that kind used last, with `00` the one
before that."""
