# Debian packages (packages.txt). If all of them are installed, apt is not called and root is not needed.

package_names() { sed -e 's/#.*//' "$here/packages.txt" | awk 'NF { print $1 }'; }

packages_missing_names() {
  local -a wanted
  mapfile -t wanted < <(package_names)
  comm -23 <(printf '%s\n' "${wanted[@]}" | sort) \
    <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null | awk '$1 == "installed" { print $2 }' | sort)
}

packages_missing() {
  if [[ -n "${SLIPSTREAM_SKIP_APT:-}" ]]; then return 1; fi
  [[ -n "$(packages_missing_names)" ]]
}

packages_plan() {
  local names
  names="$(packages_missing_names | tr '\n' ' ')"
  echo "Debian packages, system-wide by apt (all of them: 210 MB to download, 1 GB on disk, 2 minutes): $names"
}

packages_install() {
  local -a names
  mapfile -t names < <(packages_missing_names)
  apt_install packages "${names[@]}"
}

# --- apt, for this part and the next two -------------------------------------------------------------------------------

as_root() {
  if ((EUID == 0)); then "$@"; else sudo "$@"; fi
}

apt_install() {
  local log="$1"
  shift
  apt_update
  logged "$log" as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends \
    -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300 "$@"
}

apt_update() {
  if [[ -n "${apt_updated:-}" ]]; then return; fi
  logged apt-update as_root apt-get update -o Acquire::Retries=5
  apt_updated=yes
}

apt_needed() {
  local part
  for part in "$@"; do
    case "$part" in packages | rust | promtool) return 0 ;; esac
  done
  return 1
}

# One message that lists everything to install, for machines where apt cannot be used.
require_apt() {
  local why="" id="" version=""
  if [[ -r /etc/os-release ]]; then
    id="$(. /etc/os-release && echo "${ID:-}")"
    version="$(. /etc/os-release && echo "${VERSION_ID:-}")"
  fi
  if [[ "$id" != debian || "$version" != 12 ]]; then
    why="this is not Debian 12"
  elif ((EUID != 0)) && ! command -v sudo >/dev/null; then
    why="apt needs root, and there is no sudo"
  elif ((EUID != 0)) && [[ ! -t 0 || -n "${CI:-}" ]] && ! sudo -n true 2>/dev/null; then
    why="apt needs root, and sudo wants a password with nobody here to type it"
  else
    return 0
  fi
  fail "packages are missing and $why. Needed, as root on Debian 12:
  apt-get update && apt-get install --no-install-recommends $(package_names | tr '\n' ' ')prometheus
and Rust $rust_needed or newer (Debian 12: rustc-web cargo-web). On another system install their like and run
  SLIPSTREAM_SKIP_APT=1 make setup"
}
