import torch
import torch.nn as nn


class Search:
    def __init__(self, vocab_size):
        self.pad, self.eos = 1, 2
        self.vocab_size = vocab_size
        self.scores_buf = None
        self.indices_buf = None
        self.beams_buf = None

    def _init_buffers(self, t):
        if self.scores_buf is None:
            self.scores_buf = t.new()
            self.indices_buf = torch.LongTensor().to(device=t.device)
            self.beams_buf = torch.LongTensor().to(device=t.device)

    def step(self, step, lprobs, scores):
        raise NotImplementedError


class BeamSearch(Search):
    def step(self, step, lprobs, scores):
        self._init_buffers(lprobs)
        bsz, beam_size, vocab_size = lprobs.size()
        if step == 0:
            lprobs = lprobs[:, ::beam_size, :].contiguous()
        else:
            lprobs = lprobs + scores[:, :, step - 1].unsqueeze(-1)
        k = min(beam_size * 2, lprobs.view(bsz, -1).size(1) - 1)
        self.scores_buf, self.indices_buf = torch.topk(lprobs.reshape(bsz, -1), k=k)
        torch.floor_divide(self.indices_buf, vocab_size, out=self.beams_buf)
        self.indices_buf.fmod_(vocab_size)
        return self.scores_buf, self.indices_buf, self.beams_buf


class SequenceGenerator:
    def __init__(self, model, vocab_size, beam_size=2, max_len=3):
        self.model = model
        self.vocab_size = vocab_size
        self.beam_size = beam_size
        self.max_len = max_len
        self.search = BeamSearch(vocab_size)

    @torch.no_grad()
    def generate(self, src_tokens):
        bsz = src_tokens.size(0)
        scores = torch.zeros(bsz, self.beam_size, self.max_len, device=src_tokens.device)
        tokens = src_tokens[:, -1:].repeat_interleave(self.beam_size, 0)
        for step in range(self.max_len):
            lprobs = self.model(tokens[:, -1]).view(bsz, self.beam_size, -1)
            cand_scores, cand_indices, cand_beams = self.search.step(step, lprobs, scores)
            scores[:, :, step] = cand_scores[:, : self.beam_size]
            rows = cand_beams[:, : self.beam_size] + torch.arange(bsz, device=tokens.device)[:, None] * self.beam_size
            tokens = torch.cat([tokens[rows.view(-1)], cand_indices[:, : self.beam_size].reshape(-1, 1)], 1)
        return tokens


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, dim=8):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim)
        self.out = nn.Linear(dim, vocab_size)

    def forward(self, token):
        return torch.log_softmax(self.out(self.embed(token)), -1)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    generator = SequenceGenerator(LanguageModel(12).to(device), 12)
    print(generator.generate(torch.randint(0, 12, (2, 4), device=device)))


if __name__ == "__main__":
    main()
