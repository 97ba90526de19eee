from functools import lru_cache

import numpy as np
import torch
import torch.nn.functional as F

SAMPLE_RATE = 16000
N_FFT = 400
HOP_LENGTH = 160


@lru_cache(maxsize=None)
def mel_filters(device, n_mels):
    bins = N_FFT // 2 + 1
    centres = np.linspace(0, bins - 1, n_mels + 2)
    table = np.maximum(0, 1 - np.abs(np.arange(bins)[None] - centres[1:-1, None]) / np.diff(centres)[:-1, None])
    return torch.from_numpy(table.astype(np.float32)).to(device)


def pad_or_trim(array, length):
    if torch.is_tensor(array):
        return F.pad(array, (0, max(0, length - array.shape[-1])))[..., :length]
    if array.shape[-1] > length:
        return array[..., :length]
    return np.pad(array, (0, length - array.shape[-1]))


def log_mel_spectrogram(audio, n_mels=80, padding=0, device=None):
    if not torch.is_tensor(audio):
        audio = torch.from_numpy(audio)
    if device is not None:
        audio = audio.to(device)
    if padding > 0:
        audio = F.pad(audio, (0, padding))
    window = torch.hann_window(N_FFT).to(audio.device)
    stft = torch.stft(audio, N_FFT, HOP_LENGTH, window=window, return_complex=True)
    magnitudes = stft[..., :-1].abs() ** 2

    filters = mel_filters(audio.device, n_mels).to(magnitudes.dtype)
    mel_spec = filters @ magnitudes

    log_spec = torch.clamp(mel_spec, min=1e-10).log10()
    log_spec = torch.maximum(log_spec, log_spec.max() - 8.0)
    return (log_spec + 4.0) / 4.0


def read_wave(seconds=1.0):
    time = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
    return 0.1 * np.sin(2 * np.pi * 440.0 * time)


def main():
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    audio = pad_or_trim(read_wave(), SAMPLE_RATE)
    print(log_mel_spectrogram(audio, device=device).shape)


if __name__ == "__main__":
    main()
