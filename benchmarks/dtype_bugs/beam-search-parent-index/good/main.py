import torch
import torch.nn as nn


class Beam:
    def __init__(self, beam_size, vocabulary_size, sentence_length, device):
        self.beam_size = beam_size
        self.vocabulary_size = vocabulary_size
        self.scores = torch.zeros(beam_size, device=device)
        self.hypotheses = torch.ones(beam_size, 1, dtype=torch.long, device=device)
        self.attentions = torch.zeros(beam_size, 1, sentence_length, device=device)

    def advance(self, next_scores, current_attention):
        vocabulary_size = next_scores.size(1)
        if self.hypotheses.size(1) > 1:
            beam_scores = next_scores + self.scores.unsqueeze(1).expand_as(next_scores)
        else:
            beam_scores = next_scores[0].unsqueeze(0)
        flat = beam_scores.reshape(-1)
        top_scores, top_score_ids = flat.topk(k=self.beam_size, dim=0, largest=True, sorted=True)

        prev_k = top_score_ids // vocabulary_size
        next_y = top_score_ids - prev_k * vocabulary_size
        next_y = next_y.long()

        prev_attention = current_attention.index_select(dim=0, index=prev_k)
        prev_hypotheses = self.hypotheses.index_select(dim=0, index=prev_k)
        self.attentions = torch.cat([self.attentions.index_select(0, prev_k), prev_attention], dim=1)
        self.hypotheses = torch.cat([prev_hypotheses, next_y.unsqueeze(1)], dim=1)
        self.scores = top_scores


class Decoder(nn.Module):
    def __init__(self, vocabulary_size, dim):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary_size, dim)
        self.generator = nn.Linear(dim, vocabulary_size)

    def forward(self, hypotheses, memory):
        state = self.embedding(hypotheses[:, -1])
        attention = torch.softmax(state @ memory.t(), dim=-1)
        return torch.log_softmax(self.generator(attention @ memory), dim=-1), attention.unsqueeze(1)


class Predictor:
    def __init__(self, decoder, max_length=4):
        self.decoder = decoder
        self.max_length = max_length

    @torch.no_grad()
    def predict(self, memory, beam_size=3, vocabulary_size=20):
        beam = Beam(beam_size, vocabulary_size, memory.size(0), memory.device)
        for _ in range(self.max_length):
            scores, attention = self.decoder(beam.hypotheses, memory)
            beam.advance(scores, attention)
        return beam.hypotheses[0].tolist()


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    decoder = Decoder(20, 8).to(device)
    print(Predictor(decoder).predict(torch.randn(5, 8, device=device)))


if __name__ == "__main__":
    main()
