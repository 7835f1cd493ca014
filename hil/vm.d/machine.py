"""A guest in QEMU: started cold or restored from a snapshot, asked through its agent, disturbed through QMP."""
import atexit
import json
import os
import pathlib
import socket
import subprocess
import time

# Emulation only. KVM is never chosen by itself: where it is nested it opens well and then hangs.
# Without "rep movsb": emulated, it takes an instruction for each byte, and copying is what a controller of arrays does.
CPU = "max,-la57,-smap,-smep,-pku,-umip,-erms,-fsrm"
PROFILES = {
    # Two processors as the host gives them, for concurrency. Nothing here may be judged by tight times.
    "real": ["-accel", "tcg,thread=multi", "-smp", "2"],
    # One processor of 500 MIPS in time of its own, which jumps over idling: exact and repeatable, whatever the host does.
    "virtual": ["-accel", "tcg,thread=single", "-smp", "1", "-icount", "shift=1,sleep=off"],
}
KERNEL = "console=ttyS0 root=/dev/vda panic=-1 quiet net.ifnames=0 tsc=reliable"
BOOT_LIMIT = 300


class RigError(Exception):
    """The rig itself does not work; no verdict about what runs in it."""


class Machine:
    """One QEMU process. `folder` holds its sockets, console and log; `share` is what the guest mounts at /rig."""

    def __init__(self, image, profile, disk, folder, share, state=None):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.events = []
        self.rest = b""
        for name in ("qmp", "agent", "serial"):
            (self.folder / name).unlink(missing_ok=True)
        command = self.command(image, PROFILES[profile], disk, share)
        if state:
            command += ["-incoming", f"exec:cat {state}", "-S"]
        with open(self.folder / "qemu.log", "a", encoding="utf-8") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                            cwd=self.folder)
        # A QEMU that outlives us would hold its disk.
        atexit.register(self.cut_power)
        self.monitor = self.connect("qmp").makefile("rwb")
        self.monitor.readline()
        self.ask("qmp_capabilities")
        self.agent = self.connect("agent")
        if state:
            self.wait_restored()

    def command(self, image, profile, disk, share):
        image = pathlib.Path(image)
        # Sockets are named from the folder in which QEMU runs: a socket's path has at most 107 characters.
        return [
            "qemu-system-x86_64", "-machine", "pc", "-cpu", CPU, "-m", "512", *profile,
            "-nodefaults", "-display", "none", "-no-reboot", "-action", "watchdog=reset",
            "-qmp", "unix:qmp,server=on,wait=off",
            "-kernel", str(image / "vmlinux"), "-initrd", str(image / "initrd.cpio"), "-append", KERNEL,
            # What the guest has written is in the host's memory and outlives QEMU; the host's own disk must not be waited
            # for: the clock of virtual time races meanwhile.
            "-drive", f"file={disk},format=raw,if=none,id=disk,cache=unsafe", "-device", "virtio-blk-pci,drive=disk",
            # Both controllers on one bus: what can0 says, can1 hears.
            "-object", "can-bus,id=bus", "-device", "kvaser_pci,canbus=bus,id=adapter0,addr=0x10",
            "-device", "kvaser_pci,canbus=bus,id=adapter1,addr=0x11",
            "-device", "i6300esb", "-device", "virtio-rng-pci", "-device", "qemu-xhci,id=usb",
            "-serial", "file:console",
            # ttyS1 and ttyS2 are the two ends of one line.
            "-chardev", "socket,id=line0,path=serial,server=on,wait=off", "-serial", "chardev:line0",
            "-chardev", "socket,id=line1,path=serial", "-serial", "chardev:line1",
            "-device", "virtio-serial-pci", "-chardev", "socket,id=agent,path=agent,server=on,wait=off",
            "-device", "virtserialport,chardev=agent,name=rig",
            "-virtfs", f"local,path={share},mount_tag=rig,security_model=none",
        ]

    def connect(self, name):
        here = os.open(".", os.O_RDONLY)
        try:
            os.chdir(self.folder)
            for _ in range(1500):
                if self.process.poll() is not None:
                    raise RigError("QEMU ended: " + (self.folder / "qemu.log").read_text()[-600:])
                try:
                    connection = socket.socket(socket.AF_UNIX)
                    connection.connect(name)
                    return connection
                except OSError:
                    time.sleep(0.02)
        finally:
            os.fchdir(here)
            os.close(here)
        raise RigError(f"QEMU made no socket {name} within 30 s")

    def ask(self, command, **arguments):
        """One QMP command; the events that come before its answer are kept in `events`."""
        self.monitor.write(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        self.monitor.flush()
        while line := self.monitor.readline():
            message = json.loads(line)
            if "event" in message:
                self.events.append(message)
            elif "error" in message:
                raise RigError(f"QEMU refuses {command}: {message['error'].get('desc')}")
            else:
                return message["return"]
        raise RigError(f"QEMU ended during {command}")

    def wait_restored(self):
        for _ in range(3000):
            if self.ask("query-status")["status"] != "inmigrate":
                return
            time.sleep(0.01)
        raise RigError("the snapshot was not restored within 30 s")

    def send(self, command):
        self.agent.sendall(command.replace("\n", " ").encode() + b"\n")

    def answer(self, text):
        self.agent.sendall(text.encode() + b"\n")

    def line(self, limit):
        """The next line the agent says; `None` once the guest has ended."""
        end = time.monotonic() + limit
        while b"\n" not in self.rest:
            self.agent.settimeout(max(0.01, end - time.monotonic()))
            try:
                data = self.agent.recv(65536)
            except TimeoutError:
                raise RigError(f"the guest said nothing for {limit:.0f} s") from None
            except ConnectionError:
                data = b""
            if not data:
                return None
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode(errors="replace")

    def wait_ready(self):
        while (line := self.line(BOOT_LIMIT)) is not None:
            if line.startswith("@@READY"):
                return
        raise RigError("the guest ended while it booted: " + self.console())

    def run(self, command, limit=300, begin=None):
        """A shell command in the guest: its status and what it said. `begin` is called once it is on its way."""
        self.send(command)
        if begin:
            begin()
        said = []
        while (line := self.line(limit)) is not None:
            if line.startswith("@@END "):
                return int(line.split()[1]), "\n".join(said)
            said.append(line)
        raise RigError(f"the guest ended during: {command}")

    def resume(self):
        self.ask("cont")

    def save(self, path):
        """Writes the machine's memory to a file and leaves it stopped."""
        self.ask("stop")
        self.ask("migrate", uri=f"exec:cat > {path}")
        for _ in range(6000):
            status = self.ask("query-migrate").get("status")
            if status in ("completed", "failed", "cancelled"):
                break
            time.sleep(0.02)
        if status != "completed":
            raise RigError(f"the snapshot was not written: {status}")

    def wait_end(self, limit):
        try:
            self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise RigError(f"the machine did not go off within {limit} s: {self.console()}") from None

    def cut_power(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def console(self):
        path = self.folder / "console"
        return path.read_text(errors="replace")[-600:] if path.exists() else ""
