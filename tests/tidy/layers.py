"""The arrows between layers (docs/design/ARCHITECTURE.md) as one table. A layer is a folder and a CMake target of the same name."""

import functools

# layer: its folder, and the layers that it may include directly. It may also include whatever those may include.
# A service has two or three layers: X is the actor, and PARTS names the files of its folder that belong to another layer.
LAYERS = {
    "base": ("common/base", []),
    "sampling": ("common/sampling", ["base", "kernels_cpu", "kernels_exact"]),
    "speculation": ("common/speculation", ["base", "sampling"]),
    "rejection": ("common/speculation/rejection", ["speculation", "sampling"]),
    "messages": ("common/messages", ["base", "sampling"]),
    "wire": ("common/wire", ["messages"]),
    "actor": ("common/actor", ["messages"]),
    "worker": ("common/worker", ["actor"]),
    "keys": ("common/keys", ["base"]),
    "runtime": ("common/runtime", ["wire", "actor"]),
    "zmq": ("common/zmq", ["runtime", "keys"]),
    "checkpoint": ("common/checkpoint", ["base", "kernels_exact"]),
    "kv": ("common/kv", ["base"]),
    "text": ("common/text", ["base"]),
    "grammar": ("common/grammar", ["text", "sampling"]),
    "model_text": ("common/model_text", ["text", "checkpoint"]),
    "config": ("common/config", ["base", "kernels_cpu"]),
    "service": ("common/service", ["worker", "ops_page", "zmq", "config"]),
    "http": ("common/http", ["base"]),
    "metrics": ("common/metrics", ["base"]),
    "ops_page": ("common/ops_page", ["http", "metrics", "runtime"]),
    "kernels_exact": ("kernels/exact", []),
    "kernels_cpu": ("kernels/cpu", ["kernels_exact"]),
    "kernels_cuda": ("kernels/cuda", ["kernels_exact"]),
    "corpus": ("common/corpus", ["checkpoint", "speculation"]),
    "model": ("common/model", ["kernels_cpu", "checkpoint", "speculation", "kv"]),
    "torch_device": ("common/model/torch", ["model", "sampling", "checkpoint", "kernels_cuda"]),
    "engine": ("common/engine", ["model"]),
    "drafting": ("common/drafting", ["engine", "rejection", "messages", "actor", "config", "corpus"]),
    "router": ("services/router", ["actor", "speculation"]),
    "router_http_api": ("services/router/http_api", ["router", "http", "grammar", "text"]),
    "router_main": ("services/router", ["router_http_api", "model_text", "checkpoint", "service"]),
    "verifier": ("services/verifier", ["worker", "drafting", "engine", "grammar", "rejection"]),
    "verifier_main": ("services/verifier", ["verifier", "model_text", "checkpoint", "service"]),
    "drafter": ("services/drafter", ["worker", "drafting"]),
    "drafter_main": ("services/drafter", ["drafter", "checkpoint", "service"]),
    "statistics": ("tools/statistics", []),
    "command": ("tools/slipstream", ["http", "config", "drafting", "keys", "statistics", "metrics", "model", "model_text", "base"]),
    "train": ("tools/train", ["checkpoint", "corpus", "drafting", "text", "model_text", "config", "model", "torch_device"]),
    "theory": ("research/theory", ["rejection"]),
}

# The files of a service that are not part of its actor: they read files, use the network or show a page. Names without ending.
PARTS = {
    "router_main": ["allowed_hosts", "client_access", "main", "metrics_page", "model_folder", "promql", "read_worker", "router_host",
                    "sampling_defaults", "scraper", "tuning_metrics", "vllm_metrics"],
    "verifier_main": ["grammar_thread", "load_target", "main", "masks_ahead", "metrics_page"],
    "drafter_main": ["main", "metrics_page", "model_folder"],
}

# Third-party headers and the only folders that may include them, so that a library can be replaced in one place.
ZONES = {
    "capnp": ["common/wire"],
    "kj": ["common/wire"],
    "zmq": ["common/zmq", "common/keys", "tests/e2e/scripted"],
    "boost": ["common/http"],
    "openssl": ["common/http", "services/router/http_api"],
    "spdlog": ["common/base"],
    "prometheus": ["common/metrics"],
    "torch": ["common/model/torch", "tools/train"],
    "ATen": ["common/model/torch", "tools/train"],
    "c10": ["common/model/torch", "tools/train"],
}

TOP_LEVEL = {
    ".ci", ".clang-format", ".clang-tidy", ".dockerignore", ".gitattributes", ".gitignore", "CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md",
    "LICENSE", "Makefile", "NOTICE", "README.md", "bench", "cmake", "common", "deploy", "docs", "kernels", "research", "services", "tests", "tools",
}


@functools.cache
def layer_of(path):
    """The layer whose folder contains this file, or None: tests and benchmarks may include anything."""
    for name, files in PARTS.items():
        folder = LAYERS[name][0]
        if any(path.startswith(f"{folder}/{file}.") for file in files):
            return name
    homes = {folder: name for name, (folder, _) in LAYERS.items() if name not in PARTS}
    inside = [folder for folder in homes if path.startswith(folder + "/")]
    return homes[max(inside, key=len)] if inside else None


def layers_in(folder):
    """The layers whose CMakeLists.txt is that of `folder`."""
    return [name for name, (home, _) in LAYERS.items() if home == folder or home.startswith(folder + "/")]


# What an actor never includes, even if a layer that it stands on does: what drives it, what shows it, and how it was set up.
ACTORS = {"router", "verifier", "drafter"}
NOT_FOR_ACTORS = {"runtime", "zmq", "http", "metrics", "ops_page", "config"}


def allowed(layer):
    """The layers whose headers a file of `layer` may include."""
    return reachable(layer) - (NOT_FOR_ACTORS if layer in ACTORS else set())


def reachable(layer, arrows=None):
    """All layers that `layer` may include: itself, and every layer that arrows lead to, directly or not."""
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
    if {layer.split("_")[0], other.split("_")[0]} <= services:
        if layer in services and other.split("_")[0] == layer:
            return f"{layer} is the actor: it knows nothing of {other}, which drives and shows it"
        return "services never include one another: what two of them need goes to common/"
    if layer == "command":
        return ("the slipstream command speaks HTTP with services, and reads files as they do: it stands on http, config, corpus, keys, "
                "statistics, metrics, model, model_text and base")
    if layer in ("kernels_cpu", "kernels_cuda"):
        return "kernels take raw pointers; of ours they see only kernels/exact"
    if layer in ACTORS and other in NOT_FOR_ACTORS:
        return (f"{layer} is the actor: events in, effects out, and no I/O. Put what needs {other} into a file of {layer}_main "
                "(PARTS in tests/tidy/layers.py)")
    below = ", ".join(LAYERS[layer][1]) or "nothing"
    return f"{layer} stands on {below} (and on what those stand on); turn the dependency round, or move what is needed down"
