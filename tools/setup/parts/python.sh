# A Python environment in .venv, used only to convert the model's file to a Hugging Face folder.

python_key() { cat "$here/requirements-pip.txt" "$here/requirements.txt" | sha256sum; }

python_ready() { [[ -x "$root/.venv/bin/python" ]] && stamped python "$(python_key)"; }

# Needed to make the model only: if the model is there, .venv need not be. (parts/torch.sh makes it if it needs it.)
python_missing() { model_missing && ! python_ready; }

python_plan() { echo "numpy and gguf for Python, into .venv: 20 MB to download, 90 MB on disk, 10 seconds"; }

python_install() {
  local pip=("$root/.venv/bin/python" -m pip --disable-pip-version-check install --no-deps --require-hashes)
  logged python /usr/bin/python3 -m venv --clear "$root/.venv"
  logged python "${pip[@]}" -r "$here/requirements-pip.txt"
  logged python "${pip[@]}" -r "$here/requirements.txt"
  stamp python "$(python_key)"
}
