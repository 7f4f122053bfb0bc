"""Rewrites all matrices of a GGUF file in another format, for peers that read only that format.

    python bench/peers/rewrite_gguf.py models/smollm2-135m-instruct.gguf q8_0 OUT.gguf        (f32, f16, bf16, q8_0, q4_0 or q4_1)

The gguf package rounds the file's numbers as llama.cpp's converter does. Fields, order and vectors do not change.
"""

import argparse

import gguf
import numpy as np

FORMATS = {"f32": gguf.GGMLQuantizationType.F32, "f16": gguf.GGMLQuantizationType.F16, "bf16": gguf.GGMLQuantizationType.BF16,
           "q8_0": gguf.GGMLQuantizationType.Q8_0, "q4_0": gguf.GGMLQuantizationType.Q4_0, "q4_1": gguf.GGMLQuantizationType.Q4_1}
OWN_FIELDS = {"GGUF.version", "GGUF.tensor_count", "GGUF.kv_count", "general.architecture", "general.file_type"}  # the writer's


def copy_fields(reader, writer):
    for name, field in reader.fields.items():
        if name in OWN_FIELDS:
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(name, field.contents(), kind, sub_type=inner)


def rewrite(source, to, target):
    reader = gguf.GGUFReader(source)
    writer = gguf.GGUFWriter(target, arch=reader.fields["general.architecture"].contents())
    copy_fields(reader, writer)
    for tensor in reader.tensors:
        numbers = gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        kind = FORMATS[to] if numbers.ndim == 2 else gguf.GGMLQuantizationType.F32
        writer.add_tensor(tensor.name, gguf.quants.quantize(numbers, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source")
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("target")
    arguments = parser.parse_args()
    rewrite(arguments.source, arguments.format, arguments.target)
