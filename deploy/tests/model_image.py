"""Makes the image of another model: the model of build/images with a final norm of other weights."""
import hashlib
import pathlib
import random
import struct
import subprocess
import sys
import tarfile
import tempfile

ARCHIVE = pathlib.Path(__file__).resolve().parents[1] / "image" / "archive.py"
F32 = 0
NORM = b"output_norm.weight"


def norm_at(data):
    """(where the final norm lies in a GGUF file, its bytes)."""
    tensors = struct.unpack_from("<Q", data, 8)[0]
    first = min(data.find(struct.pack("<Q", len(name)) + name) for name in (NORM, b"token_embd.weight"))
    at, found = first, None
    for _ in range(tensors):
        size = struct.unpack_from("<Q", data, at)[0]
        name = data[at + 8:at + 8 + size]
        dimensions = struct.unpack_from("<I", data, at + 8 + size)[0]
        shape = struct.unpack_from(f"<{dimensions}Q", data, at + 12 + size)
        kind, offset = struct.unpack_from("<IQ", data, at + 12 + size + 8 * dimensions)
        at += 24 + size + 8 * dimensions
        if name == NORM:
            if kind != F32 or dimensions != 1:
                raise ValueError(f"{name.decode()} is of type {kind} with {dimensions} dimensions")
            found = offset, 4 * shape[0]
    begin = (at + 31) // 32 * 32  # general.alignment, as it is where no file says another
    return begin + found[0], found[1]


def other_weights(file):
    data = bytearray(file.read_bytes())
    begin, size = norm_at(data)
    values = struct.unpack_from(f"<{size // 4}f", data, begin)
    draw = random.Random(24)
    struct.pack_into(f"<{size // 4}f", data, begin, *[value * draw.uniform(0.8, 1.25) for value in values])
    file.write_bytes(data)


def make(images, out, beside):
    """`beside`: a file that lies beside the model, or None."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        with tarfile.open(images / "slipstream-model.tar") as archive:
            layer = next(member for member in archive.getnames() if member.endswith("/layer.tar"))
            with tarfile.open(fileobj=archive.extractfile(layer)) as files:
                files.extractall(root)
        model = root / "model"
        other_weights(next(model.glob("*.gguf")))
        if beside:
            (model / beside.name).write_bytes(beside.read_bytes())
            (model / beside.name).chmod(0o755)
        sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  ./{file.relative_to(model)}\n"
                for file in sorted(model.rglob("*")) if file.is_file() and file.name != "SHA256SUMS"]
        (model / "SHA256SUMS").write_text("".join(sums), encoding="utf-8")
        subprocess.run([sys.executable, ARCHIVE, out, "localhost/slipstream-model:2", root, "user=65532:65532", "cmd=sh"], check=True)
