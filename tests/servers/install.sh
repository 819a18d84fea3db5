#!/bin/sh
# Install the programs of packages.txt, Debian's packages: servers and clients that the tests start, and programs that
# they compare with; and mdBook, which is on crates.io alone, into build/programs.  No server is left running.
set -eu
cd "$(dirname "$0")"

if command -v cargo >/dev/null && [ ! -x ../../build/programs/bin/mdbook ]; then
    cargo install --quiet --locked --no-default-features --root ../../build/programs mdbook@0.5.4
fi
missing=
while read -r package; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done < packages.txt
[ -n "$missing" ] || { echo "All programs of tests/servers/packages.txt are installed."; exit 0; }
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "make servers needs root and apt to install these packages of Debian:$missing" >&2
    exit 1
fi

# Packages of servers start them when they are installed, unless told not to.
if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
# Wait this long, and no longer, for another apt that holds the lock and for a mirror that does not answer.
apt() {
    timeout 900 apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Acquire::http::Timeout=60 "$@"
}
apt update
# shellcheck disable=SC2086  # each package is a word
apt install -y --no-install-recommends $missing > /dev/null || {
    # inn2 rejects a host whose name has no dot.
    [ -e /etc/news/inn.conf ] && sed -i 's/^#domain:.*/domain: example.test/' /etc/news/inn.conf
    dpkg --configure -a > /dev/null
}
echo "Installed:$missing"
