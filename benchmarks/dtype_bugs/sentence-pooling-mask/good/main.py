import torch
import torch.nn as nn


class Transformer(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embeddings = nn.Embedding(vocab, dim)
        self.layer = nn.Linear(dim, dim)

    def forward(self, features):
        hidden = torch.tanh(self.layer(self.embeddings(features["input_ids"])))
        features.update({"token_embeddings": hidden, "attention_mask": features["attention_mask"]})
        return features


class Pooling(nn.Module):
    def __init__(self, dim, pooling_mode="mean"):
        super().__init__()
        self.pooling_mode_mean_tokens = pooling_mode == "mean"
        self.pooling_mode_max_tokens = pooling_mode == "max"
        self.pooling_output_dimension = dim

    def forward(self, features):
        token_embeddings = features["token_embeddings"]
        attention_mask = features["attention_mask"]
        output_vectors = []
        if self.pooling_mode_max_tokens:
            mask = attention_mask.unsqueeze(-1).expand(token_embeddings.size()).bool()
            output_vectors.append(token_embeddings.masked_fill(~mask, -1e4).max(1).values)
        if self.pooling_mode_mean_tokens:
            input_mask_expanded = (
                attention_mask.unsqueeze(-1).expand(token_embeddings.size()).to(token_embeddings.dtype)
            )
            sum_embeddings = torch.sum(token_embeddings * input_mask_expanded, 1)
            sum_mask = torch.clamp(input_mask_expanded.sum(1), min=1e-9)
            output_vectors.append(sum_embeddings / sum_mask)
        features.update({"sentence_embedding": torch.cat(output_vectors, 1)})
        return features


class Dense(nn.Module):
    def __init__(self, in_features, out_features):
        super().__init__()
        self.linear = nn.Linear(in_features, out_features)
        self.activation_function = nn.Tanh()

    def forward(self, features):
        features.update({"sentence_embedding": self.activation_function(self.linear(features["sentence_embedding"]))})
        return features


class SentenceTransformer(nn.Sequential):
    def tokenize(self, texts):
        longest = max(map(len, texts))
        ids = torch.zeros(len(texts), longest, dtype=torch.long)
        mask = torch.zeros(len(texts), longest, dtype=torch.long)
        for row, text in enumerate(texts):
            ids[row, : len(text)] = torch.tensor([ord(c) % 100 for c in text])
            mask[row, : len(text)] = 1
        return {"input_ids": ids, "attention_mask": mask}

    @torch.no_grad()
    def encode(self, sentences, device):
        features = self.tokenize(sentences)
        for key in features:
            features[key] = features[key].to(device)
        return self.forward(features)["sentence_embedding"]


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    pooling = Pooling(16)
    model = SentenceTransformer(Transformer(100, 16), pooling, Dense(pooling.pooling_output_dimension, 8))
    model.to(device).half()
    print(model.encode(["a sentence", "another one"], device).shape)


if __name__ == "__main__":
    main()
