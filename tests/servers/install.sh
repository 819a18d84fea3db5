#!/usr/bin/env bash
# The servers and clients that the tests of access start, and programs that tests compare with; nothing is left running.
set -euo pipefail
cd "$(dirname "$0")"

missing=()
for package in $(cat packages.txt); do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} = 0 ] && exit 0

# Packages of servers start them when they are installed, unless told not to.
if [ ! -e /usr/sbin/policy-rc.d ]; then
    printf '#!/bin/sh\nexit 101\n' > /usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
# Another apt that holds the lock, and a mirror that says nothing, are waited for so long and no longer.
apt() {
    timeout 900 apt-get -qq -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 -o Acquire::http::Timeout=60 "$@"
}
apt update
apt install -y --no-install-recommends "${missing[@]}" > /dev/null || {
    # inn2 refuses a host whose name has no dot.
    [ -e /etc/news/inn.conf ] && sed -i 's/^#domain:.*/domain: example.test/' /etc/news/inn.conf
    dpkg --configure -a > /dev/null
}
