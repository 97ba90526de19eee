import torch
import torch.nn as nn
import torch.nn.functional as F

AUDIO_TOKEN_ID = 7


class AudioEncoder(nn.Module):
    def __init__(self, mel_bins, hidden):
        super().__init__()
        self.conv = nn.Conv1d(mel_bins, hidden, 3, padding=1)
        self.layer_norm = nn.LayerNorm(hidden)
        self.projector = nn.Linear(hidden, hidden)

    def forward(self, input_features):
        hidden_states = F.gelu(self.conv(input_features)).transpose(1, 2)
        return self.projector(self.layer_norm(hidden_states))


class AudioLanguageModel(nn.Module):
    def __init__(self, vocab=32, hidden=16, mel_bins=8):
        super().__init__()
        self.audio_tower = AudioEncoder(mel_bins, hidden)
        self.embed_tokens = nn.Embedding(vocab, hidden)
        self.decoder = nn.Linear(hidden, hidden)
        self.lm_head = nn.Linear(hidden, vocab, bias=False)

    def get_audio_features(self, input_features):
        return self.audio_tower(input_features).flatten(0, 1)

    def get_placeholder_mask(self, input_ids, inputs_embeds):
        special_audio_mask = input_ids == AUDIO_TOKEN_ID
        return special_audio_mask.unsqueeze(-1).expand_as(inputs_embeds).to(inputs_embeds.device)

    def forward(self, input_ids, input_features=None, labels=None):
        inputs_embeds = self.embed_tokens(input_ids)
        if input_features is not None:
            audio_embeds = self.get_audio_features(input_features)
            special_audio_mask = self.get_placeholder_mask(input_ids, inputs_embeds)
            inputs_embeds = inputs_embeds.masked_scatter(
                special_audio_mask, audio_embeds.to(inputs_embeds.device, inputs_embeds.dtype)
            )
        logits = self.lm_head(torch.relu(self.decoder(inputs_embeds)))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits.float().flatten(0, 1), labels.flatten())
        return loss, logits


class Trainer:
    def __init__(self, model, bf16=False):
        self.model = model
        self.bf16 = bf16
        self.device = next(model.parameters()).device
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def compute_loss(self, batch):
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.bf16):
            loss, _ = self.model(**batch)
        return loss

    def train(self, batches):
        for batch in batches:
            batch = {k: v.to(self.device) for k, v in batch.items()}
            loss = self.compute_loss(batch)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


def collate():
    ids = torch.randint(8, 32, (2, 10))
    ids[:, :5] = AUDIO_TOKEN_ID
    return {"input_ids": ids, "input_features": torch.randn(2, 8, 5), "labels": ids.clone()}


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    trainer = Trainer(AudioLanguageModel().to(device), bf16=True)
    trainer.train([collate() for _ in range(2)])
    print("trained")


if __name__ == "__main__":
    main()
