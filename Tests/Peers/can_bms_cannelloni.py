"""A BMS on python-can with the can-cannelloni plug-in. Arguments: HOST:PORT of a listening cannelloni peer."""
import sys

import can

import can_frames

can_frames.play(can.Bus(interface="cannelloni", channel=sys.argv[1]))
