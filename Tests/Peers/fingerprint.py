"""READY and the SHA-256 of the first certificate of a PEM file, by PyPI cryptography: `fingerprint.py FILE`."""

import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes

with open(sys.argv[1], "rb") as file:
    print("READY", x509.load_pem_x509_certificates(file.read())[0].fingerprint(hashes.SHA256()).hex())
