"""The real models of the tests, and the inputs each of them is tried with.

Models come from tools/fetch_models.py, or are written by light_models.py.
"""

import dataclasses
import os
from typing import Callable

import light_models
from comparison import rounds_alike
from image_cases import image_cases
from sound_cases import basic_pitch_cases, silero_cases, silero_sequence_cases, smart_turn_cases
from text_cases import bert_cases, magika_cases, t5_decoder_cases, t5_encoder_cases

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, ".cache", "models")


@dataclasses.dataclass(frozen=True)
class RealModel:
    name: str  # the file in .cache/models
    cases: Callable  # -> {label: {input: array}}
    is_quick: bool  # in `make test`; the others in `make test-full`
    atol: float = 1e-4
    write: Callable | None = None  # writes the model to a path; None: it is fetched

    def file_in(self, folder):
        """The model's path; one that has to be written lies in `folder`."""
        if self.write is None:
            return os.path.join(FOLDER, self.name + ".onnx")
        path = os.path.join(folder, self.name + ".onnx")
        if not os.path.exists(path):
            self.write(path)
        return path

    def is_missing(self):
        return self.write is None and not os.path.exists(self.file_in(""))


def light(name, is_quick=False, atol=1e-6):
    """A network of the onnx package with weights that light_models.py draws. Most give 1000 shares of 1."""
    shape = (1, 3, 224, 224)
    return RealModel("light-" + name.replace("_", "-"),
                     lambda: image_cases(light_models.input_of(name), -2, 2, shape, shape, shape), is_quick, atol,
                     lambda path: light_models.write_seeded(name, path))


# Ranges: PP-OCR detection normalises with the mean and deviation of ImageNet, recognition and classification to -1..1;
# Open NSFW subtracts 104, 117, 123 from 0..255.
MODELS = (
    RealModel("ppocr-rec", lambda: image_cases("x", -1, 1, (1, 3, 48, 320), (3, 3, 48, 136), (1, 3, 48, 64)), True),
    RealModel("minilm", bert_cases, True),
    RealModel("open-nsfw", lambda: image_cases("input:0", -123, 151, (1, 224, 224, 3), (2, 224, 224, 3),
                                               (1, 224, 224, 3), layout="nhwc"), True),
    RealModel("ppocr-det", lambda: image_cases("x", -2.12, 2.64, (1, 3, 320, 320), (2, 3, 160, 224),
                                               (1, 3, 96, 64)), False),
    RealModel("ppocr-cls", lambda: image_cases("x", -1, 1, (1, 3, 48, 192), (5, 3, 48, 192), (1, 3, 48, 192)), False),
    RealModel("yolov8n", lambda: image_cases("images", 0, 1, (1, 3, 320, 320), (2, 3, 160, 256), (1, 3, 64, 64)), True),
    RealModel("magika", magika_cases, True),
    # Takes the logarithm of a spectrum, of which much is next to nothing.
    RealModel("basic-pitch", basic_pitch_cases, True, atol=1e-4 if rounds_alike() else 1e-3),
    RealModel("silero-vad", lambda: silero_cases(True, (16000, 8000)), True),
    RealModel("silero-vad-16k-op15", lambda: silero_cases(True, (16000,)), False),
    RealModel("silero-vad-16k-sequence", silero_sequence_cases, True),
    RealModel("silero-vad-half", lambda: silero_cases(True, None), False),
    RealModel("silero-vad-op18-ifless", lambda: silero_cases(True, (16000, 8000)), False),
    RealModel("silero-vad-openvino-16k", lambda: silero_cases(False, None), False),
    # Quantised models are chaotic: one activation rounded otherwise moves the results, those of onnxruntime's own levels
    # as much as these. So this is about gross errors; test_quantized.py compares the pieces in full.
    RealModel("smart-turn", smart_turn_cases, False, atol=0.2),
    RealModel("minilm-int8", bert_cases, False, atol=1.0),
    RealModel("flan-t5-small-encoder", t5_encoder_cases, False, atol=0.5),
    RealModel("flan-t5-small-decoder", t5_decoder_cases, False, atol=10.0),
    light("bvlc_alexnet"),
    light("densenet121", atol=1e-4),
    light("inception_v1"),
    light("inception_v2"),
    light("resnet50"),
    light("shufflenet", is_quick=True),
    light("squeezenet"),
    light("vgg19"),
    light("zfnet512"),
)
