"""A malicious site: everything that one can send to a real aggregator, one attack after the other.

hostile_site.py PORT: the aggregator has the sites demo (token demo-token) and other (other-token) and `limits: {body_s: 2}`.
Prints a line of JSON for each attack: its name, the status that came, those that are right. 0 = the connection was cut.
"""
import json
import os
import socket
import sys
import time
import zlib

port = int(sys.argv[1])
EPOCH = "0123456789abcdef" * 2


def exchange(head, pieces=(), wait=20, pause=0.0):
    """Sends a head and pieces of a body; reads until a status is there."""
    peer = socket.create_connection(("127.0.0.1", port), timeout=wait)
    answer = b""
    try:
        peer.sendall(head)
        for piece in pieces:
            peer.sendall(piece)
            if pause:
                time.sleep(pause)
                peer.setblocking(False)
                try:
                    answer += peer.recv(65536)
                except BlockingIOError:
                    pass
                peer.settimeout(wait)
                if answer:
                    break
    except OSError:
        pass
    try:
        while b"\r\n\r\n" not in answer:
            piece = peer.recv(65536)
            if not piece:
                break
            answer += piece
    except OSError:
        pass
    peer.close()
    return int(answer.split(b" ")[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def post(body, path="/v1/edge/report", token="demo-token", more=""):
    body = body if isinstance(body, bytes) else body.encode()
    head = (f"POST {path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n{more}\r\n")
    return exchange(head.encode() + body)


def report(records, site="demo", epoch=EPOCH, more=""):
    return f'{{"site":{json.dumps(site, ensure_ascii=False)},"epoch":"{epoch}","records":[{records}]{more}}}'


def record(number, data='{"kind":"event"}'):
    return f'{{"n":{number},"data":{data}}}'


def chunked(pieces, pause=0.0):
    head = (b"POST /v1/edge/report HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer demo-token\r\n"
            b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
    return exchange(head, (b"%x\r\n" % len(piece) + piece + b"\r\n" for piece in pieces), pause=pause)


def endless(piece, count):
    for _ in range(count):
        yield piece


good = report(record(1) + "," + record(2))
epoch = iter(f"{number:032x}" for number in range(1, 1000))
attacks = [
    ("the right one", [200], lambda: post(good)),
    ("the same again", [200], lambda: post(good)),
    ("torn", [400], lambda: post(good[:len(good) // 2])),
    ("each byte flipped", [400, 403, 409], lambda: max(
        post(good[:place] + chr(ord(good[place]) ^ 1) + good[place + 1:]) for place in (1, 9, 20, 60, 70, len(good) - 1))),
    ("swapped", [400], lambda: post(report(record(4) + "," + record(3)))),
    ("one number twice", [400], lambda: post(report(record(3) + "," + record(3, "{}")))),
    ("a hole that no gap declares", [400], lambda: post(report(record(3) + "," + record(5)))),
    ("from behind the next number", [409], lambda: post(report(record(9)))),
    ("of the year 9999", [200], lambda: post(report(record(1, '{"kind":"event","t_ms":253402300799999}'), epoch=next(epoch)))),
    ("before 1970", [200], lambda: post(report(record(1, '{"kind":"event","t_ms":-1}'), epoch=next(epoch)))),
    ("another epoch with the same numbers", [200], lambda: post(report(record(1, '{"kind":"delta"}'), epoch=next(epoch)))),
    ("NaN", [400], lambda: post(report(record(1, '{"kind":"delta","v":NaN}'), epoch=next(epoch)))),
    ("Infinity", [400], lambda: post(report(record(1, '{"v":Infinity}'), epoch=next(epoch)))),
    ("1e999 as a value", [200], lambda: post(report(record(1, '{"kind":"snapshot","t_ms":1e999,"values":{"x":[1,1e999]}}'), epoch=next(epoch)))),
    ("1e999 as a number", [400], lambda: post(report(record("1e999"), epoch=next(epoch)))),
    ("number 0", [400], lambda: post(report(record(0), epoch=next(epoch)))),
    ("number 1.5", [400], lambda: post(report(record("1.5"), epoch=next(epoch)))),
    ("number 2^63", [400], lambda: post(report(record(2**63), epoch=next(epoch)))),
    ("a unit renamed on the way", [200], lambda: post(report(record(1, (
        '{"v":1,"kind":"snapshot","mono_ms":1,"t_ms":1790000000000,"mode":"hil","site":"other",'
        '"values":{"frequency_khz":[1,50000]},"units":[],"counters":{}}')), site="other", epoch=next(epoch)), token="other-token")),
    ("a gap that ends before it begins", [400], lambda: post(report("", epoch=next(epoch), more=',"gaps":[{"from":5,"to":1}]'))),
    ("gaps that overlap", [400], lambda: post(report("", epoch=next(epoch), more=',"gaps":[{"from":1,"to":5},{"from":5,"to":6}]'))),
    ("601 records ahead of their turn", [400], lambda: post(report(
        "", epoch=next(epoch), more=',"present":[' + ",".join(record(n) for n in range(1, 602)) + "]"))),
    ("an epoch in capitals", [400], lambda: post(report(record(1), epoch="A" * 32))),
    ("a record of 600 KB", [413], lambda: post(report(record(1, json.dumps({"kind": "x" * 600_000})), epoch=next(epoch)))),
    ("60,000 deep", [400], lambda: post("[" * 60_000)),
    ("no UTF-8", [400], lambda: post(good.encode().replace(b"event", b"\xff\xfe\xc0\x80\xed"))),
    ("a look-alike in Cyrillic", [403], lambda: post(report(record(1), site="d\u0435mo"))),
    ("a look-alike with a joiner", [403], lambda: post(report(record(1), site="de\u200dmo"))),
    ("a look-alike with a combining letter", [403], lambda: post(report(record(1), site="demo\u0301"))),
    ("in capitals", [403], lambda: post(report(record(1), site="DEMO"))),
    ("with a blank", [403], lambda: post(report(record(1), site=" demo"))),
    ("with a zero byte", [403], lambda: post(report(record(1), site="demo\\u0000").replace("\\\\u", "\\u"))),
    ("of full width", [403], lambda: post(report(record(1), site="\uff44\uff45\uff4d\uff4f"))),
    ("another site's token", [403], lambda: post(report(record(1), site="other"))),
    ("another site's commands", [403], lambda: exchange(
        b"GET /v1/edge/commands?site=other HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer demo-token\r\nConnection: close\r\n\r\n")),
    ("another site's results", [403], lambda: post('{"sequence":1,"state":"granted"}', path="/v1/edge/results?site=other")),
    ("a result of no lease", [404], lambda: post('{"sequence":1,"state":"granted"}', path="/v1/edge/results?site=demo")),
    ("somebody's leases", [403], lambda: post('{"power_w":1,"for_s":60,"dispatch":"D","reason":"r"}', path="/v1/sites/demo/leases")),
    ("reading with a site's token", [403, 404], lambda: exchange(
        b"GET /v1/sites/other/state HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer demo-token\r\nConnection: close\r\n\r\n")),
    ("100 MB, said so", [413], lambda: exchange(
        b"POST /v1/edge/report HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer demo-token\r\nContent-Length: 104857600\r\n\r\n")),
    ("100 MB, not said so", [413], lambda: chunked(endless(b" " * 65536, 1600))),
    ("a slow body", [408], lambda: exchange(
        b"POST /v1/edge/report HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer demo-token\r\nContent-Length: 1000\r\n\r\n",
        endless(b" ", 400), pause=0.05)),
    ("an endless body", [408], lambda: chunked(endless(b" ", 400), pause=0.05)),
    ("a deflated bomb", [413], lambda: post(zlib.compress(b" " * (64 << 20), 9), more="Content-Encoding: deflate\r\n")),
    ("deflated rubbish", [400], lambda: post(os.urandom(4096), more="Content-Encoding: deflate\r\n")),
    ("deflated and torn", [400], lambda: post(zlib.compress(good.encode())[:-6], more="Content-Encoding: deflate\r\n")),
    ("another coding", [415], lambda: post(good, more="Content-Encoding: gzip\r\n")),
    ("a head of 100 KB", [0, 400, 431], lambda: exchange(
        b"GET /v1/sites HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 100_000 + b"\r\n\r\n")),
    ("two lengths", [0, 400], lambda: exchange(
        b"POST /v1/edge/report HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer demo-token\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n")),
    ("no HTTP", [0, 400], lambda: exchange(b"\x16\x03\x01" + os.urandom(300) + b"\r\n\r\n")),
    ("out of the folder", [404], lambda: exchange(
        b"GET /v1/sites/../../etc/passwd HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer demo-token\r\nConnection: close\r\n\r\n")),
    ("a method that is none", [0, 400, 405, 501], lambda: exchange(
        b"FROB /v1/edge/report HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer demo-token\r\nConnection: close\r\n\r\n")),
    ("the right one, after all that", [200], lambda: post(report(record(3)))),
]
for name, right, attack in attacks:
    print(json.dumps({"name": name, "status": attack(), "right": right}), flush=True)
