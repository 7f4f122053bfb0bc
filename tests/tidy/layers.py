"""The arrows between layers (docs/ARCHITECTURE.md) as one table. A layer is a folder and a CMake target of the same name."""

# layer: the folder it lives in, and the layers it may stand on directly; what those stand on it may include too.
LAYERS = {
    "base": ("common/base", []),
    "sampling": ("common/sampling", ["base", "kernels_cpu", "kernels_exact"]),
    "speculation": ("common/speculation", ["base", "sampling"]),
    "messages": ("common/messages", ["base", "sampling"]),
    "wire": ("common/wire", ["messages"]),
    "actor": ("common/actor", ["messages"]),
    "keys": ("common/keys", ["base"]),
    "runtime": ("common/runtime", ["wire", "actor", "metrics", "keys"]),
    "checkpoint": ("common/checkpoint", ["base"]),
    "kv": ("common/kv", ["base"]),
    "text": ("common/text", ["base"]),
    "config": ("common/config", ["base", "kernels_cpu"]),
    "statistics": ("common/statistics", []),
    "http": ("common/http", ["base"]),
    "metrics": ("common/metrics", ["base", "http"]),
    "kernels_exact": ("kernels/exact", []),
    "kernels_cpu": ("kernels/cpu", ["kernels_exact"]),
    "model": ("common/model", ["kernels_cpu", "checkpoint", "speculation", "kv"]),
    "drafting": ("common/drafting", ["model", "messages", "actor", "config"]),
    "router": ("services/router", ["runtime", "text", "config", "http", "metrics", "checkpoint", "speculation"]),
    "verifier": ("services/verifier", ["runtime", "model", "config", "http", "metrics", "checkpoint"]),
    "drafter": ("services/drafter", ["runtime", "drafting", "config", "http", "metrics", "checkpoint"]),
    "command": ("tools/slipstream", ["http", "config", "keys", "statistics", "base"]),
    "theory": ("tools/theory", ["speculation"]),
}

# Single headers that a layer may include although no arrow leads there.
SINGLE_HEADERS = {
}

# Third-party headers and the only folders that see them, so that a library can be replaced in one place.
ZONES = {
    "capnp": ["common/wire"],
    "kj": ["common/wire"],
    "zmq": ["common/runtime", "common/keys", "tests/e2e/scripted"],
    "boost": ["common/http"],
    "spdlog": ["common/base"],
    "prometheus": ["common/metrics"],
    "torch": [],
    "ATen": [],
    "c10": [],
}

TOP_LEVEL = {
    ".ci", ".clang-format", ".clang-tidy", ".gitattributes", ".gitignore", "CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md",
    "LICENSE", "Makefile", "NOTICE", "README.md", "bench", "common", "deploy", "docs", "kernels", "services", "tests", "tools",
}


def layer_of(path):
    """The layer whose folder holds this file, or None (tests and benchmarks may include anything)."""
    for name, (folder, _) in LAYERS.items():
        if path.startswith(folder + "/"):
            return name
    return None


def reachable(layer, arrows=None):
    """All layers that `layer` may include: itself and what its arrows lead to, however far."""
    arrows = arrows or {name: below for name, (_, below) in LAYERS.items()}
    seen, wanted = set(), [layer]
    while wanted:
        name = wanted.pop()
        if name not in seen:
            seen.add(name)
            wanted.extend(arrows.get(name, []))
    return seen


def why_not(layer, other):
    services = {"router", "verifier", "drafter"}
    if layer in services and other in services:
        return "services never include one another: what two of them need goes to common/"
    if layer == "command":
        return "the slipstream command speaks HTTP only: it stands on http, config, statistics and base"
    if layer == "kernels_cpu":
        return "kernels take raw pointers; of ours they see only kernels/exact"
    below = ", ".join(LAYERS[layer][1]) or "nothing"
    return f"{layer} stands on {below} (and on what those stand on); turn the dependency round, or move what is needed down"
