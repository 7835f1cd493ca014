"""Builds the guest: kernel, initial RAM disk and root file system, from Debian packages and nothing else.

The sources are those that apt of this machine is configured with. The result lies under `.rig/`, in a folder named by the
hash of all that goes into it: the lists beside this file, the overlay, the packages' versions, and this program.
"""
import hashlib
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / ".rig"
SUITE = "bookworm"
# Room for a second version of the packages, not packed.
ROOT_SIZE = "1200M"
# Units that would start on an ordinary machine and only cost time here.
MASKED = """apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service fstrim.timer
    getty@tty1.service getty-static.service serial-getty@ttyS0.service systemd-timesyncd.service systemd-pstore.service
    systemd-firstboot.service systemd-machine-id-commit.service systemd-binfmt.service systemd-hwdb-update.service
    systemd-update-utmp.service systemd-update-utmp-runlevel.service ldconfig.service dev-hugepages.mount dev-mqueue.mount
    sys-fs-fuse-connections.mount sys-kernel-debug.mount sys-kernel-tracing.mount proc-sys-fs-binfmt_misc.mount
    proc-sys-fs-binfmt_misc.automount modprobe@efi_pstore.service modprobe@drm.service""".split()
# Of the kernel package: the folders that hold the modules of modules.txt.
KERNEL_FOLDERS = "net drivers/net drivers/watchdog drivers/virtio drivers/block drivers/char drivers/usb drivers/md " \
    "drivers/input drivers/acpi drivers/platform fs lib crypto arch/x86/crypto".split()
INIT = """#!/bin/sh
mount -t devtmpfs d /dev; mount -t proc p /proc; mount -t sysfs s /sys
for m in /m/*; do insmod $m 2>/dev/null; done
n=0; while [ ! -b /dev/vda ] && [ $n -lt 400 ]; do sleep 0.05; n=$((n+1)); done
mount -t ext4 -o rw,noatime /dev/vda /new || exec sh
mount --move /dev /new/dev; mount --move /proc /new/proc; mount --move /sys /new/sys
exec switch_root /new /sbin/init
"""


class BuildError(Exception):
    """Why the guest cannot be built; one line for people."""


def run(*command, error, **options):
    """Runs a tool; where it fails, the last lines it said go into the error."""
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            errors="replace", **options)
    if result.returncode != 0:
        raise BuildError(f"{error}: {' '.join(map(str, command))[:200]} ended with {result.returncode}:\n"
                         + "\n".join(result.stdout.splitlines()[-15:]))
    return result.stdout


def words(name):
    lines = (HERE / name).read_text().splitlines()
    return [word for line in lines if not line.startswith("#") for word in line.split()]


def kernel_version():
    text = run("apt-cache", "depends", "linux-image-amd64", error="apt knows no Debian kernel")
    for line in text.splitlines():
        if "Depends: linux-image-" in line:
            return line.split("linux-image-")[1].strip()
    raise BuildError("apt knows no linux-image-amd64: are Debian's sources configured? (apt-get update)")


def key():
    """The hash of all that goes into the image."""
    digest = hashlib.sha256()
    for path in sorted([HERE / "packages.txt", HERE / "modules.txt", HERE / "image.py", *(HERE / "overlay").rglob("*")]):
        if path.is_file():
            digest.update(f"{path.relative_to(HERE)} {path.stat().st_mode & 0o111}\n".encode() + path.read_bytes())
    names = words("packages.txt") + ["busybox-static", f"linux-image-{kernel_version()}"]
    policy = run("apt-cache", "policy", *names, error="apt cannot say which versions it would install")
    digest.update("\n".join(line for line in policy.splitlines() if "Candidate" in line or line[:1] != " ").encode())
    digest.update(run("qemu-system-x86_64", "--version", error="QEMU does not run").encode())
    return digest.hexdigest()[:16]


def sources():
    text = run("apt-get", "indextargets", "--format", "deb $(REPO_URI) $(CODENAME) $(COMPONENT)", "Created-By: Packages",
               error="apt cannot say its sources")
    allowed = [f"{SUITE}{part} main" for part in ("", "-updates", "-security")]
    lines = sorted({line for line in text.splitlines() if any(line.endswith(" " + end) for end in allowed)})
    if not any(line.endswith(f" {SUITE} main") for line in lines):
        raise BuildError(f"apt has no source for Debian {SUITE} main, or no lists of it (apt-get update)")
    return "\n".join(lines) + "\n"


def extract_kernel(image, out):
    """The uncompressed kernel out of a bzImage: QEMU starts it in half the time (PVH)."""
    data = image.read_bytes()
    sectors = data[0x1F1] or 4
    offset, length = struct.unpack_from("<II", data, 0x248)
    payload = data[(sectors + 1) * 512 + offset:][:length]
    if payload[:6] != b"\xfd7zXZ\0":
        raise BuildError(f"{image.name} is not packed with xz as Debian 12's kernels are")
    # The last four bytes are the length of what comes out.
    out.write_bytes(lzma.decompress(payload[:-4]))


def unpack_kernel(folder, version):
    """Fetches the kernel and a static busybox and unpacks what the guest needs of them."""
    run("apt-get", "download", "-q", f"linux-image-{version}", "busybox-static", cwd=folder,
        error="apt cannot fetch the kernel")
    tree = folder / "kernel"
    tree.mkdir()
    package = next(folder.glob("linux-image-*.deb"))
    base = f"./lib/modules/{version}"
    parts = ["./boot"] + [f"{base}/modules.{name}" for name in ("builtin", "builtin.modinfo", "order")]
    parts += [f"{base}/kernel/{name}" for name in KERNEL_FOLDERS]
    dpkg = subprocess.Popen(["dpkg", "--fsys-tarfile", package], stdout=subprocess.PIPE)
    tar = subprocess.run(["tar", "-x", "-C", tree, *parts], stdin=dpkg.stdout, stderr=subprocess.PIPE, text=True)
    if tar.returncode != 0 or dpkg.wait() != 0:
        raise BuildError(f"the kernel package does not unpack: {tar.stderr[-500:]}")
    run("depmod", "-b", tree, version, error="the kernel's modules cannot be listed")
    run("dpkg", "-x", next(folder.glob("busybox-static*.deb")), folder / "busybox", error="busybox does not unpack")
    return tree


def modules_of(tree, version, names):
    """The files of modules and of all they need, in the order in which they load."""
    files = []
    for name in names:
        text = run("modprobe", "-d", tree, "-S", version, "--show-depends", "--ignore-install", name,
                   error=f"the kernel has no module {name}")
        files += [line.split()[1] for line in text.splitlines() if line.startswith("insmod ")]
    return list(dict.fromkeys(files))


def make_root(folder):
    """Debian's essential packages and those of packages.txt, configured by their own scripts."""
    skip = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("doc", "locale", "info")]
    with tempfile.NamedTemporaryFile("w", suffix=".list") as list_file:
        list_file.write(sources())
        list_file.flush()
        run("mmdebstrap", "--mode=root", "--variant=essential", "--aptopt=Acquire::Languages \"none\"",
            "--aptopt=APT::Install-Recommends \"false\"", "--dpkgopt=force-unsafe-io", *skip,
            "--include=" + ",".join(words("packages.txt")), SUITE, folder, list_file.name,
            error="mmdebstrap cannot make the root file system")


def finish_root(root, tree, version):
    for path in modules_of(tree, version, words("modules.txt")):
        target = root / "usr" / os.path.relpath(path, tree)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    for name in ("builtin", "builtin.modinfo", "order"):
        shutil.copy(tree / f"lib/modules/{version}/modules.{name}", root / f"usr/lib/modules/{version}")
    run("depmod", "-b", root, version, error="the guest's modules cannot be listed")
    shutil.copytree(HERE / "overlay", root, dirs_exist_ok=True)
    run("chown", "-R", "root:root", root / "etc", root / "usr/local", error="cannot give the overlay to root")
    # What was left out of Debian's packages is no rule for those that are tested.
    (root / "etc/dpkg/dpkg.cfg.d/99mmdebstrap").write_text("force-unsafe-io\n")
    units = root / "etc/systemd/system"
    for name in MASKED:
        (units / name).unlink(missing_ok=True)
        (units / name).symlink_to("/dev/null")
    (units / "default.target").unlink(missing_ok=True)
    (units / "default.target").symlink_to("/etc/systemd/system/rig.target")
    for name in ("apt/lists", "apt/archives"):
        shutil.rmtree(root / "var/lib" / name, ignore_errors=True)


def make_initial_ram_disk(folder, tree, version, out):
    disk = folder / "initrd"
    for name in "bin proc sys dev new m".split():
        (disk / name).mkdir(parents=True)
    shutil.copy(folder / "busybox/bin/busybox", disk / "bin")
    for name in "sh mount insmod switch_root sleep".split():
        (disk / "bin" / name).symlink_to("busybox")
    wanted = modules_of(tree, version, "virtio_pci virtio_blk crc32c_generic crc32c_intel ext4".split())
    for number, path in enumerate(wanted):
        shutil.copyfile(path, disk / f"m/{number:02}-{os.path.basename(path)}")
    (disk / "init").write_text(INIT)
    (disk / "init").chmod(0o755)
    names = "\n".join(sorted(str(path.relative_to(disk)) for path in disk.rglob("*"))) + "\n"
    with open(out, "wb") as file:
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], input=names.encode(), stdout=file, cwd=disk, check=True)


def workplace():
    """In memory where there is room: the root file system is many small files."""
    memory = pathlib.Path("/dev/shm")
    roomy = memory.is_dir() and shutil.disk_usage(memory).free > 3 << 30
    return tempfile.TemporaryDirectory(prefix="ballast-rig-", dir=memory if roomy else None)


def build(say):
    """The folder of the image; builds it where it is not there yet."""
    folder = CACHE / key()
    if (folder / "complete").exists():
        return folder
    if os.geteuid() != 0:
        raise BuildError("building the guest needs root (mmdebstrap and mke2fs keep the owners of files): sudo hil/vm build")
    say("fetching lists of packages")
    run("apt-get", "update", "-qq", error="apt-get update failed")
    folder = CACHE / key()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    version = kernel_version()
    with workplace() as place:
        work = pathlib.Path(place)
        say(f"kernel {version}")
        tree = unpack_kernel(work, version)
        extract_kernel(tree / f"boot/vmlinuz-{version}", folder / "vmlinux")
        say(f"root file system of Debian {SUITE}")
        make_root(work / "root")
        finish_root(work / "root", tree, version)
        make_initial_ram_disk(work, tree, version, folder / "initrd.cpio")
        run("mke2fs", "-q", "-t", "ext4", "-d", work / "root", "-L", "rig", "-m", "0", "-E", "lazy_itable_init=0",
            folder / "root.ext4", ROOT_SIZE, error="mke2fs cannot make the disk")
    (folder / "complete").write_text(version + "\n")
    for other in CACHE.iterdir():
        if other != folder and len(other.name) == 16:
            shutil.rmtree(other, ignore_errors=True)
    return folder
