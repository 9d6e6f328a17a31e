# SPDX-License-Identifier: Apache-2.0
# finding: interpreter; repair: the loop runs in compiled code;
# says: % of the time runs the Python interpreter
import hashlib
import hmac

ROUNDS = 300000
if REPAIRED:  # noqa: F821 (a line above this file says it)
    key = hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", ROUNDS)
else:
    each = hmac.digest(b"secret", b"salt" + b"\0\0\0\1", "sha256")
    number = int.from_bytes(each, "big")
    for step in range(ROUNDS - 1):
        each = hmac.digest(b"secret", each, "sha256")
        number ^= int.from_bytes(each, "big")
    key = number.to_bytes(32, "big")
print(key.hex())
