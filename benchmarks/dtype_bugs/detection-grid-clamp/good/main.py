import torch
import torch.nn as nn


class Detect(nn.Module):
    def __init__(self, nc, anchors, ch):
        super().__init__()
        self.nc, self.na, self.nl = nc, len(anchors[0]) // 2, len(anchors)
        self.register_buffer("anchors", torch.tensor(anchors).float().view(self.nl, -1, 2))
        self.m = nn.ModuleList(nn.Conv2d(c, (nc + 5) * self.na, 1) for c in ch)

    def forward(self, x):
        out = []
        for i in range(self.nl):
            bs, _, ny, nx = x[i].shape
            out.append(self.m[i](x[i]).view(bs, self.na, self.nc + 5, ny, nx).permute(0, 1, 3, 4, 2).contiguous())
        return out


class ComputeLoss:
    def __init__(self, det, hyp):
        self.anchors, self.nl, self.na, self.nc = det.anchors, det.nl, det.na, det.nc
        self.hyp = hyp
        self.bce = nn.BCEWithLogitsLoss()

    def __call__(self, p, targets):
        device = targets.device
        lobj = torch.zeros(1, device=device)
        tcls, tbox, indices, anchors = self.build_targets(p, targets)
        for i, pi in enumerate(p):
            b, a, gj, gi = indices[i]
            tobj = torch.zeros_like(pi[..., 0], device=device)
            if b.shape[0]:
                tobj[b, a, gj, gi] = 1.0
            lobj += self.bce(pi[..., 4], tobj)
        return lobj

    def build_targets(self, p, targets):
        na, nt = self.na, targets.shape[0]
        tcls, tbox, indices, anch = [], [], [], []
        gain = torch.ones(7, device=targets.device)
        ai = torch.arange(na, device=targets.device).float().view(na, 1).repeat(1, nt)
        targets = torch.cat((targets.repeat(na, 1, 1), ai[:, :, None]), 2)
        for i in range(self.nl):
            anchors = self.anchors[i]
            gain[2:6] = torch.tensor(p[i].shape)[[3, 2, 3, 2]]
            t = targets * gain
            if nt:
                r = t[:, :, 4:6] / anchors[:, None]
                j = torch.max(r, 1 / r).max(2)[0] < self.hyp["anchor_t"]
                t = t[j]
            else:
                t = targets[0]
            b, c = t[:, :2].long().T
            gxy = t[:, 2:4]
            gwh = t[:, 4:6]
            gij = gxy.long()
            gi, gj = gij.T
            a = t[:, 6].long()
            indices.append((b, a, gj.clamp_(0, gain[3].long() - 1), gi.clamp_(0, gain[2].long() - 1)))
            tbox.append(torch.cat((gxy - gij, gwh), 1))
            anch.append(anchors[a])
            tcls.append(c)
        return tcls, tbox, indices, anch


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    det = Detect(3, [[1.0, 1.0, 2.0, 2.0], [2.0, 2.0, 4.0, 4.0]], (8, 8)).to(device)
    compute_loss = ComputeLoss(det, {"anchor_t": 8.0})
    x = [torch.randn(2, 8, 8, 8, device=device), torch.randn(2, 8, 4, 4, device=device)]
    targets = torch.tensor([[0, 1, 0.5, 0.5, 0.2, 0.2], [1, 0, 0.3, 0.6, 0.4, 0.4]], device=device)
    loss = compute_loss(det(x), targets)
    loss.backward()
    print(loss.item())


if __name__ == "__main__":
    main()
