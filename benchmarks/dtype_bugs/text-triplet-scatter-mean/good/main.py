import torch
import torch.nn as nn


def fill_mean_token_embeddings(all_token_embeddings, sentence_hidden_states, word_ids, token_lengths):
    batch_size, max_tokens, embedding_dim = all_token_embeddings.shape
    mask = word_ids >= 0

    all_token_embeddings.scatter_add_(
        1,
        word_ids.clamp(min=0).unsqueeze(-1).expand(-1, -1, embedding_dim),
        sentence_hidden_states * mask.unsqueeze(-1),
    )
    count = torch.zeros(batch_size, max_tokens, 1, dtype=sentence_hidden_states.dtype, device=word_ids.device)
    count.scatter_add_(1, word_ids.clamp(min=0).unsqueeze(-1), mask.unsqueeze(-1).to(sentence_hidden_states.dtype))
    count = count.clamp(min=1)
    return all_token_embeddings / count


class TransformerWordEmbeddings(nn.Module):
    def __init__(self, vocab=50, dim=16, subtoken_pooling="mean"):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.encoder = nn.Linear(dim, dim)
        self.subtoken_pooling = subtoken_pooling
        self.embedding_length_internal = dim

    def forward(self, input_ids, word_ids, token_lengths):
        sentence_hidden_states = torch.tanh(self.encoder(self.embedding(input_ids)))
        all_token_embeddings = torch.zeros(
            word_ids.shape[0],
            max(token_lengths),
            self.embedding_length_internal,
            dtype=sentence_hidden_states.dtype,
            device=sentence_hidden_states.device,
        )
        if self.subtoken_pooling == "mean":
            return fill_mean_token_embeddings(all_token_embeddings, sentence_hidden_states, word_ids, token_lengths)
        raise ValueError(self.subtoken_pooling)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = TransformerWordEmbeddings().to(device).to(torch.bfloat16)
    input_ids = torch.randint(0, 50, (2, 6), device=device)
    word_ids = torch.tensor([[0, 0, 1, 2, 2, 2], [0, 1, 1, 2, -100, -100]], device=device)
    print(model(input_ids, word_ids, [3, 3]).shape)


if __name__ == "__main__":
    main()
