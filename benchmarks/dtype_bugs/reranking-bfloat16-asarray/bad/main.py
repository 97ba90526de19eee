import numpy as np
import torch
import torch.nn as nn


class EncoderModel(nn.Module):
    def __init__(self, vocab=64, dim=16):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab, dim)
        self.head = nn.Linear(dim, dim)

    def forward(self, ids, offsets):
        return nn.functional.normalize(self.head(self.embedding(ids, offsets)), dim=-1)


class Encoder:
    def __init__(self, dtype, device):
        self.model = EncoderModel().to(device=device, dtype=dtype).eval()
        self.device = device

    @torch.no_grad()
    def encode(self, sentences, batch_size=2):
        vectors = []
        for start in range(0, len(sentences), batch_size):
            words = [[hash(w) % 64 for w in s.split()] for s in sentences[start : start + batch_size]]
            ids = torch.tensor([w for ws in words for w in ws], device=self.device)
            lengths = torch.tensor([0] + [len(ws) for ws in words[:-1]], device=self.device)
            vectors.append(self.model(ids, lengths.cumsum(0)).cpu())
        return torch.cat(vectors)


class RerankingEvaluator:
    def __init__(self, samples):
        self.samples = samples

    def compute_metrics(self, model):
        all_mrr = []
        all_query_embs = np.asarray(model.encode([sample["query"] for sample in self.samples]))
        for query_emb, sample in zip(all_query_embs, self.samples):
            docs = sample["positive"] + sample["negative"]
            docs_emb = np.asarray(model.encode(docs))
            order = np.argsort(-(docs_emb @ query_emb))
            rank = min(int(np.where(order == i)[0][0]) for i in range(len(sample["positive"])))
            all_mrr.append(1 / (rank + 1))
        return float(np.mean(all_mrr))


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    samples = [
        {"query": "a red fox", "positive": ["the red fox"], "negative": ["a blue car", "rain"]},
        {"query": "rain today", "positive": ["rain tomorrow"], "negative": ["the fox"]},
    ]
    print(RerankingEvaluator(samples).compute_metrics(Encoder(torch.bfloat16, device)))


if __name__ == "__main__":
    main()
