import torch
import torch.nn as nn


def repeat_token(token, size):
    batch_size, sequence_length = size
    return token.repeat(batch_size, sequence_length, 1)


def expand_index_like(index, tokens):
    return index.unsqueeze(-1).expand(-1, -1, tokens.shape[-1])


def get_at_index(tokens, index):
    index = expand_index_like(index, tokens)
    return torch.gather(tokens, 1, index)


def set_at_index(tokens, index, value):
    index = expand_index_like(index, tokens)
    return torch.scatter(tokens, 1, index, value)


def random_token_mask(size, mask_ratio, device):
    batch_size, sequence_length = size
    noise = torch.rand(batch_size, sequence_length, device=device)
    indices = noise.argsort(dim=1)
    num_keep = int(sequence_length * (1 - mask_ratio))
    return indices[:, :num_keep], indices[:, num_keep:]


class MAEDecoder(nn.Module):
    def __init__(self, hidden_dim, decoder_dim, patch_dim):
        super().__init__()
        self.embed_layer = nn.Linear(hidden_dim, decoder_dim)
        self.blocks = nn.Sequential(nn.Linear(decoder_dim, decoder_dim), nn.GELU())
        self.head = nn.Linear(decoder_dim, patch_dim)

    def embed(self, x):
        return self.embed_layer(x)

    def decode(self, x):
        return self.blocks(x)

    def predict(self, x):
        return self.head(x)


class MAE(nn.Module):
    def __init__(self, patch_dim=12, hidden_dim=16, decoder_dim=8, sequence_length=9):
        super().__init__()
        self.sequence_length = sequence_length
        self.mask_ratio = 0.75
        self.mask_token = nn.Parameter(torch.zeros(1, 1, decoder_dim))
        self.backbone = nn.Linear(patch_dim, hidden_dim)
        self.decoder = MAEDecoder(hidden_dim, decoder_dim, patch_dim)

    def forward_decoder(self, x_encoded, idx_keep, idx_mask):
        batch_size = x_encoded.shape[0]
        x_decode = self.decoder.embed(x_encoded)
        x_masked = repeat_token(self.mask_token, (batch_size, self.sequence_length))
        x_masked = set_at_index(x_masked, idx_keep, x_decode.type_as(x_masked))
        x_decoded = self.decoder.decode(x_masked)
        return self.decoder.predict(get_at_index(x_decoded, idx_mask))

    def training_step(self, patches):
        idx_keep, idx_mask = random_token_mask(patches.shape[:2], self.mask_ratio, patches.device)
        x_encoded = self.backbone(get_at_index(patches, idx_keep))
        x_pred = self.forward_decoder(x_encoded, idx_keep, idx_mask)
        target = get_at_index(patches, idx_mask)
        return nn.functional.mse_loss(x_pred.float(), target)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = MAE().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(2):
        patches = torch.randn(4, 9, 12).to(device)
        with torch.autocast(device.type, dtype=torch.bfloat16):
            loss = model.training_step(patches)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


if __name__ == "__main__":
    main()
