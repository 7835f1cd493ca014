"""Makes JSON Web Tokens with PyPI's cryptography alone, good and bad ones, for the aggregator to judge.

  jwt_peer.py SEED NOW        SEED: the issuer's Ed25519 seed in hexadecimal digits; NOW in seconds
  jwt_peer.py check TOKEN PUBLIC-KEY      whether a token that the aggregator made holds; prints its claims

Prints a line for each token: a name, a space, the token.
"""

import base64
import hashlib
import hmac
import json
import os
import sys

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def compact(header, claims, sign):
    signed = encode(json.dumps(header).encode()) + "." + encode(json.dumps(claims).encode())
    return signed + "." + encode(sign(signed.encode()))


def main(seed, now):
    key, now = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(seed)), int(now)
    public = key.public_key().public_bytes_raw()
    good = {"alg": "EdDSA", "typ": "JWT", "kid": "issuer-1"}
    claims = {"iss": "https://id.example.org", "aud": "ballast-books", "sub": "asha", "role": "prosumer", "party": "asha",
              "iat": now - 10, "exp": now + 3600}
    but = lambda **more: {name: value for name, value in {**claims, **more}.items() if value is not None}
    rsa_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    ec_key = ec.generate_private_key(ec.SECP256R1())
    other = Ed25519PrivateKey.generate()
    whole = compact(good, claims, key.sign)
    head, body, signature = whole.split(".")
    flipped = bytearray(decode(signature))
    flipped[0] ^= 1
    tokens = {
        "good": whole,
        "good_without_kid": compact({"alg": "EdDSA"}, claims, key.sign),
        "good_audience_in_a_list": compact(good, but(aud=["other", "ballast-books"]), key.sign),
        "good_read": compact(good, but(scope="books:read"), key.sign),
        "alg_none": compact({"alg": "none"}, claims, lambda _: b""),
        "alg_none_with_signature": compact({"alg": "none", "kid": "issuer-1"}, claims, key.sign),
        "alg_hs256_by_the_public_key": compact({"alg": "HS256"}, claims, lambda m: hmac.new(public, m, hashlib.sha256).digest()),
        "alg_rs256": compact({"alg": "RS256"}, claims, lambda m: rsa_key.sign(m, padding.PKCS1v15(), hashes.SHA256())),
        "alg_es256": compact({"alg": "ES256"}, claims, lambda m: ec_key.sign(m, ec.ECDSA(hashes.SHA256()))),
        "alg_in_small_letters": compact({"alg": "eddsa"}, claims, key.sign),
        "another_key": compact(good, claims, other.sign),
        "another_kid": compact({**good, "kid": "issuer-2"}, claims, key.sign),
        "critical": compact({**good, "crit": ["b64"], "b64": False}, claims, key.sign),
        "unsigned": f"{head}.{body}.",
        "cut": whole[:-2],
        "padded": whole + "==",
        "signature_changed": f"{head}.{body}.{encode(bytes(flipped))}",
        "body_changed": f"{head}.{encode(json.dumps(but(role='admin')).encode())}.{signature}",
        "role_twice": compact(good, claims, key.sign).replace(body, encode(json.dumps(claims).encode()[:-1] + b', "role": "admin"}')),
        "expired": compact(good, but(exp=now - 1, iat=now - 3600), key.sign),
        "no_exp": compact(good, but(exp=None), key.sign),
        "exp_is_a_text": compact(good, but(exp=str(now + 60)), key.sign),
        "exp_of_ages": compact(good, but(exp=2**63), key.sign),
        "not_yet": compact(good, but(nbf=now + 600), key.sign),
        "issued_tomorrow": compact(good, but(iat=now + 86400, exp=now + 90000), key.sign),
        "too_long": compact(good, but(exp=now + 25 * 3600), key.sign),
        "audience_wrong": compact(good, but(aud="somebody-else"), key.sign),
        "no_audience": compact(good, but(aud=None), key.sign),
        "issuer_wrong": compact(good, but(iss="https://id.example.com"), key.sign),
        "role_above_the_key": compact(good, but(role="admin", party=None), key.sign),
        "no_party": compact(good, but(party=None), key.sign),
        "no_subject": compact(good, but(sub=None), key.sign),
        "unknown_scope": compact(good, but(scope="books:read everything"), key.sign),
        "two_parts": f"{head}.{body}",
        "four_parts": whole + ".",
        "garbage": f"{encode(os.urandom(20))}.{encode(os.urandom(20))}.{encode(os.urandom(64))}",
        "too_large": compact(good, but(sub="x" * 5000), key.sign),
    }
    for name, token in tokens.items():
        print(name, token)


def check(token, public):
    head, body, signature = token.split(".")
    Ed25519PublicKey.from_public_bytes(bytes.fromhex(public)).verify(decode(signature), f"{head}.{body}".encode())
    header = json.loads(decode(head))
    if header["alg"] != "EdDSA" or header["typ"] != "JWT":
        sys.exit(f"the header is {header}")
    print(json.dumps(json.loads(decode(body)), sort_keys=True))


if __name__ == "__main__":
    check(*sys.argv[2:]) if sys.argv[1] == "check" else main(*sys.argv[1:])
