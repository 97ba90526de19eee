import numpy as np
import torch
import torch.nn as nn


class Meter:
    """Measures the loudness of a wave in LUFS."""

    def __init__(self, rate, block_size=0.1):
        self.block = int(rate * block_size)

    def integrated_loudness(self, data):
        data = data.astype(np.float64)
        blocks = data[: len(data) // self.block * self.block].reshape(-1, self.block)
        power = np.mean(np.square(blocks), axis=1)
        return -0.691 + 10.0 * np.log10(np.mean(power))


class VoiceEncoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv = nn.Conv1d(1, dim, 32, stride=16)
        self.proj = nn.Linear(dim, dim)

    def forward(self, wav):
        return self.proj(torch.relu(self.conv(wav.unsqueeze(1))).mean(-1))


class ChatterboxTurboTTS:
    sr = 8000

    def __init__(self, encoder, device):
        self.encoder = encoder
        self.device = device

    def norm_loudness(self, wav, sr, target_lufs=-27):
        meter = Meter(sr)
        loudness = meter.integrated_loudness(wav)
        gain_db = target_lufs - loudness
        gain_linear = float(10.0 ** (gain_db / 20.0))
        if gain_linear > 0.0 and np.isfinite(gain_linear):
            wav = wav * gain_linear
        return wav

    def load_prompt(self, seconds):
        rng = np.random.default_rng(0)
        return rng.standard_normal(int(seconds * self.sr)).astype(np.float32)

    def wave_tensor(self, wav, norm_loudness):
        if norm_loudness:
            wav = self.norm_loudness(wav, self.sr)
        return torch.from_numpy(wav)[None]

    @torch.inference_mode()
    def prepare_conditionals(self, seconds=2.0, norm_loudness=True):
        wav = self.wave_tensor(self.load_prompt(seconds), norm_loudness)
        return self.encoder(wav.to(self.device))


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    tts = ChatterboxTurboTTS(VoiceEncoder().to(device).eval(), device)
    print(tts.prepare_conditionals().shape)


if __name__ == "__main__":
    main()
