#!/bin/sh
# Puts the packages on the bare guest, as an installer of a site does, and takes the site into operation.
set -e
dpkg -i /rig/packages/ballast_*.deb /rig/packages/ballast-aggregator_*.deb
cp /rig/guest/site.yaml /etc/ballast/site.yaml
# Root is what the rig is; a person of the role service does this on a site.
ballastctl commission init --config /etc/ballast/site.yaml --reason "the rig was inspected"
systemctl enable ballast.target ballast-can@can0.service ballast-can@can1.service
