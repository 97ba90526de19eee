import torch
import torch.nn as nn


def generate_anchors(stride, ratios, scales):
    sizes = [(stride * s * r**0.5, stride * s / r**0.5) for r in ratios for s in scales]
    return torch.tensor([[-w / 2, -h / 2, w / 2, h / 2] for w, h in sizes])


def delta2box(deltas, anchors, size, stride):
    anchors_wh = anchors[:, 2:] - anchors[:, :2] + 1
    ctr = anchors[:, :2] + 0.5 * anchors_wh
    pred_ctr = deltas[:, :2] * anchors_wh + ctr
    pred_wh = torch.exp(deltas[:, 2:].clamp(max=4.0)) * anchors_wh
    limit = torch.tensor([size[0] * stride, size[1] * stride, size[0] * stride, size[1] * stride], device=deltas.device)
    return torch.min(torch.cat([pred_ctr - 0.5 * pred_wh, pred_ctr + 0.5 * pred_wh], 1).clamp(min=0), limit - 1)


def decode(all_cls_head, all_box_head, stride=1, threshold=0.05, top_n=10, anchors=None):
    device = all_cls_head.device
    anchors = anchors.to(device).type(all_cls_head.type())
    num_anchors = anchors.size()[0]
    num_classes = all_cls_head.size()[1] // num_anchors
    height, width = all_cls_head.size()[-2:]
    batch_size = all_cls_head.size()[0]
    out_scores = torch.zeros((batch_size, top_n), device=device)
    out_boxes = torch.zeros((batch_size, top_n, 4), device=device)
    out_classes = torch.zeros((batch_size, top_n), device=device)

    for batch in range(batch_size):
        cls_head = all_cls_head[batch, :, :, :].contiguous().view(-1)
        box_head = all_box_head[batch, :, :, :].contiguous().view(-1, 4, height, width)
        keep = (cls_head >= threshold).nonzero().view(-1)
        if keep.nelement() == 0:
            continue
        scores, indices = torch.topk(cls_head.index_select(0, keep), min(top_n, keep.size()[0]), dim=0)
        indices = keep.index_select(0, indices).view(-1)
        classes = (indices // width // height) % num_classes
        classes = classes.type(all_cls_head.type())

        x = indices % width
        y = (indices / width) % height
        a = indices / num_classes / height / width
        boxes = box_head[a, :, y, x].view(-1, 4)
        grid = torch.stack([x, y, x, y], 1).type(all_cls_head.type()) * stride + anchors[a, :]
        boxes = delta2box(boxes, grid, [width, height], stride)
        out_scores[batch, : scores.size()[0]] = scores
        out_boxes[batch, : boxes.size()[0], :] = boxes
        out_classes[batch, : classes.size()[0]] = classes
    return out_scores, out_boxes, out_classes


class RetinaNet(nn.Module):
    def __init__(self, classes=4, stride=8):
        super().__init__()
        self.stride = stride
        self.anchors = generate_anchors(stride, [0.5, 1.0, 2.0], [4.0])
        self.backbone = nn.Conv2d(3, 16, stride, stride)
        self.cls_head = nn.Conv2d(16, classes * 3, 3, padding=1)
        self.box_head = nn.Conv2d(16, 4 * 3, 3, padding=1)

    def forward(self, x):
        features = torch.relu(self.backbone(x))
        return decode(self.cls_head(features).sigmoid(), self.box_head(features), self.stride, anchors=self.anchors)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with torch.no_grad():
        scores, boxes, classes = RetinaNet().to(device)(torch.rand(2, 3, 64, 64, device=device))
    print(scores.shape, boxes.shape, classes.shape)


if __name__ == "__main__":
    main()
