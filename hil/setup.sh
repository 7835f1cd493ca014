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

# The programs with optimisation. Whoever waits sees how far it is: the compiler counts its steps on a terminal, and
# elsewhere a line stands every half minute.
build_release() {
    local begun=$SECONDS log status=0 ticker=""
    if [ -e .build/release ]; then
        say "building (release): what has changed"
    else
        say "building (release) for the first time: about $((25 / $(nproc) + 1)) minutes on this machine"
    fi
    if [ -t 1 ]; then
        swift build -c release
    else
        log=$(mktemp)
        (while sleep 30; do
            printf '   %d:%02d  %s\n' $(((SECONDS - begun) / 60)) $(((SECONDS - begun) % 60)) \
                "$(grep -aoE '^\[[0-9]+/[0-9]+\].*' "$log" | tail -n 1 | cut -c 1-80)"
        done) &
        ticker=$!
        swift build -c release >"$log" 2>&1 || status=$?
        kill "$ticker" 2>/dev/null || true
        [ $status -eq 0 ] || cat "$log"
        rm -f "$log"
        [ $status -eq 0 ] || return $status
    fi
    say "built in $(((SECONDS - begun) / 60)) min $(((SECONDS - begun) % 60)) s"
}

# promtool of Debian's prometheus, without the server that the package would start.
need_promtool() {
    command -v promtool >/dev/null && { PROMTOOL=$(command -v promtool); export PROMTOOL; return; }
    PROMTOOL="$root/.venv/promtool/usr/bin/promtool"
    export PROMTOOL
    [ -x "$PROMTOOL" ] && return
    say "fetching promtool (Debian package prometheus, not installed)"
    local folder
    folder=$(mktemp -d)
    chmod 755 "$folder"
    (cd "$folder" && { apt-get download -qq prometheus || { apt-get update -qq; apt-get download -qq prometheus; }; })
    mkdir -p "$root/.venv/promtool"
    dpkg-deb --fsys-tarfile "$folder"/prometheus_*.deb | tar -x -C "$root/.venv/promtool" ./usr/bin/promtool
    rm -rf "$folder"
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

# Who judges what a fleet loses: HiGHS, beside the peers, for the one command that asks it.
need_solver() {
    need_peers
    "$BALLAST_PYTHON" -c 'import highspy' 2>/dev/null && return
    say "installing the solver (PyPI highspy)"
    "$root/.venv/bin/pip" install -q --disable-pip-version-check highspy==1.15.1 numpy==2.4.6
}
