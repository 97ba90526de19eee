import torch
import torch.nn as nn


class Processor:
    def __init__(self, size=32):
        self.size = size

    def __call__(self, images):
        pixels = torch.stack([nn.functional.interpolate(i[None], size=(self.size, self.size))[0] for i in images])
        return {"pixel_values": (pixels - 0.5) / 0.5}


class SwinEncoder(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.patch_embed = nn.Conv2d(3, dim, 8, 8)
        self.norm = nn.LayerNorm(dim)

    def forward(self, pixel_values):
        hidden = self.patch_embed(pixel_values).flatten(2).transpose(1, 2)
        return self.norm(hidden)


class VisionEncoderDecoderModel(nn.Module):
    def __init__(self, dim=16, vocab=40):
        super().__init__()
        self.encoder = SwinEncoder(dim)
        self.decoder = nn.GRUCell(dim, dim)
        self.lm_head = nn.Linear(dim, vocab)

    def generate(self, pixel_values, max_length):
        memory = self.encoder(pixel_values).mean(1)
        state = torch.zeros_like(memory)
        ids = []
        for _ in range(max_length):
            state = self.decoder(memory, state)
            ids.append(self.lm_head(state).argmax(-1))
        return torch.stack(ids, 1)


class DOLPHIN:
    def __init__(self):
        self.processor = Processor()
        self.model = VisionEncoderDecoderModel()
        self.model.eval()
        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        self.model.to(self.device)
        if self.device != "cpu":
            self.model = self.model.half()

    @torch.no_grad()
    def chat(self, images):
        batch_inputs = self.processor(images)
        batch_pixel_values = batch_inputs["pixel_values"].half().to(self.device)
        return self.model.generate(pixel_values=batch_pixel_values, max_length=4)


def main():
    model = DOLPHIN()
    print(model.chat([torch.rand(3, 40, 50), torch.rand(3, 60, 30)]).tolist())


if __name__ == "__main__":
    main()
