import numpy as np
import torch
import torch.nn as nn


class Vocabulary:
    def __init__(self, sentences):
        words = sorted({word for s in sentences for word in s.split()})
        self.word2index = {word: i + 2 for i, word in enumerate(words)}
        self.n_words = len(words) + 2

    def encode(self, sentence):
        return [self.word2index.get(word, 0) for word in sentence.split()] + [1]


def build_embedding_matrix(vocabulary, vectors, dim):
    matrix = np.zeros((vocabulary.n_words, dim))
    for word, index in vocabulary.word2index.items():
        if word in vectors:
            matrix[index] = vectors[word]
        else:
            matrix[index] = np.random.normal(scale=0.6, size=(dim,))
    return matrix


class EncoderRNN(nn.Module):
    def __init__(self, embedding_matrix, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        num_embeddings, dim = embedding_matrix.shape
        self.embedding = nn.Embedding(num_embeddings, dim)
        self.embedding.weight = nn.Parameter(torch.from_numpy(embedding_matrix), requires_grad=False)
        self.gru = nn.GRU(dim, hidden_size)

    def forward(self, word, hidden):
        embedded = self.embedding(word).view(1, 1, -1)
        output = embedded
        output, hidden = self.gru(output, hidden)
        return output, hidden

    def init_hidden(self, device):
        return torch.zeros(1, 1, self.hidden_size, device=device)


def encode(encoder, vocabulary, sentence, device):
    hidden = encoder.init_hidden(device)
    words = torch.tensor(vocabulary.encode(sentence), device=device)
    outputs = []
    for i in range(words.size(0)):
        output, hidden = encoder(words[i], hidden)
        outputs.append(output[0, 0])
    return torch.stack(outputs)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    sentences = ["the cat sat on the mat", "a dog ran"]
    vocabulary = Vocabulary(sentences)
    vectors = {"cat": np.ones(8), "dog": -np.ones(8)}
    encoder = EncoderRNN(build_embedding_matrix(vocabulary, vectors, 8), 12).to(device)
    print(encode(encoder, vocabulary, sentences[0], device).shape)


if __name__ == "__main__":
    main()
