"""Stands between a program and ballastd's control socket, and counts what is asked.

    control_tap.py PATH TARGET      the program asks at PATH; lines go on to TARGET, and answers back

It prints `READY`. A line on standard input prints as JSON: `asked`, how often each command was asked, and `lines`, how many
answers have come in all.
"""
import json
import socket
import sys
import threading

asked, lines = {}, 0
lock = threading.Lock()


def serve(near, target):
    global lines
    far = socket.socket(socket.AF_UNIX)
    try:
        far.connect(target)
        line = b""
        while not line.endswith(b"\n"):
            piece = near.recv(65536)
            if not piece:
                return
            line += piece
        with lock:
            command = json.loads(line)["command"]
            asked[command] = asked.get(command, 0) + 1
        far.sendall(line)
        while piece := far.recv(65536):
            with lock:
                lines += piece.count(b"\n")
            near.sendall(piece)
    except OSError:
        pass
    finally:
        near.close()
        far.close()


def main():
    path, target = sys.argv[1:]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen(64)

    def accept():
        while True:
            near, _ = listener.accept()
            threading.Thread(target=serve, args=(near, target), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    print("READY", flush=True)
    for _ in sys.stdin:
        with lock:
            print(json.dumps({"asked": asked, "lines": lines}), flush=True)


main()
