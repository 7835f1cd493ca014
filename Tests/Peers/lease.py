"""Writes a signed lease by its description alone, with OpenSSL's Ed25519: the judge of RemoteLease and Signatures.

lease.py key SEED                                       prints the public key
lease.py sign SEED KIND SEQUENCE ISSUED FROM UNTIL WATTS KEY SITE TARGET DISPATCH
                                                        prints the lease; KIND 1 = power, 2 = release; times in ms;
                                                        TARGET - = the whole site
"""
import struct
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(sys.argv[2]))
if sys.argv[1] == "key":
    print(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw).hex())
else:
    kind, sequence, issued, begin, end, watts = map(int, sys.argv[3:9])
    out = b"BLEASE" + struct.pack(">BBQqqqq", 1, kind, sequence, issued, begin, end, watts)
    for name in sys.argv[9:13]:
        text = b"" if name == "-" else name.encode()
        out += bytes([len(text)]) + text
    print((out + key.sign(out)).hex())
