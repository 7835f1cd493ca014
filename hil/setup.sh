# Sourced by the commands of this folder: installs what a bare Debian 12 lacks, and says what it cannot install.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export SWIFT_BACKTRACE=enable=no

say() { printf '\n== %s\n' "$*"; }

# Installs the Debian packages that are missing; asks for nothing where none is.
need_packages() {
    local missing=()
    for package in "$@"; do
        dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    [ ${#missing[@]} -eq 0 ] && return
    say "installing Debian packages: ${missing[*]}"
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "${missing[@]}" >/dev/null
}

need_swift() {
    command -v swift >/dev/null || {
        echo "no swift in PATH: install Swift 6.3 for Debian 12 from swift.org" >&2
        exit 1
    }
}

# What every build links.
need_build() {
    need_packages libmodbus-dev libsocketcan-dev libsystemd-dev libyaml-dev libsodium-dev libsqlite3-dev zlib1g-dev pkg-config
    need_swift
}

# A Python of our own with the protocol peers, at fixed versions; made again when the list changes.
need_peers() {
    # hledger and ledger judge the books that are exported.
    need_packages python3-venv mbpoll hledger ledger
    local list="$root/Tests/Peers/requirements.txt" venv="$root/.venv"
    if ! cmp -s "$list" "$venv/installed.txt" || [ ! -d "$venv/cantools-source" ]; then
        say "installing the Python peers (Tests/Peers/requirements.txt)"
        rm -rf "$venv"
        /usr/bin/python3 -m venv "$venv"
        "$venv/bin/pip" install -q --disable-pip-version-check -r "$list"
        # The DBC files of its source package judge our DBC reader; no wheel has them.
        "$venv/bin/pip" download -q --disable-pip-version-check --no-deps --no-binary :all: \
            -d "$venv" "$(grep '^cantools==' "$list")"
        mkdir "$venv/cantools-source"
        tar -xzf "$venv"/cantools-*.tar.gz -C "$venv/cantools-source"
        cp "$list" "$venv/installed.txt"
    fi
    export BALLAST_PYTHON="$venv/bin/python"
}
