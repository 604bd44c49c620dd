"""Creates a code, changes it, lists all codes, reads the feed, and verifies webhooks, with Python's standard library only.

    SCANLOG_KEY=sk_live_... python3 examples/scanlog.py
"""

import base64
import hashlib
import hmac
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

BASE_URL = os.environ.get("SCANLOG_URL", "http://localhost:3000")
KEY = os.environ.get("SCANLOG_KEY", "")
MAX_ATTEMPTS = 4


class ScanlogError(Exception):
    def __init__(self, status, error):
        super().__init__(error["message"])
        self.status = status
        self.code = error["code"]
        self.details = error.get("details", [])


def call(method, path, body=None, **query):
    """Sends a request, and repeats it after a rate limit or an overload. A create is recognized by its Idempotency-Key."""
    url = BASE_URL + path
    if query:
        url += "?" + urllib.parse.urlencode(query, doseq=True)
    headers = {"Authorization": "Bearer " + KEY, "Content-Type": "application/json"}
    if method == "POST":
        headers["Idempotency-Key"] = str(uuid.uuid4())
    data = None if body is None else json.dumps(body).encode()
    for attempt in range(1, MAX_ATTEMPTS + 1):
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503) or attempt == MAX_ATTEMPTS:
                raise ScanlogError(error.code, json.load(error)["error"]) from None
            time.sleep(float(error.headers.get("Retry-After", 2**attempt)))


def all_codes(**filters):
    """Every code of a list: `next` of an answer is the cursor of the page after it."""
    page = call("GET", "/v1/qrcodes", limit=100, **filters)
    while True:
        yield from page["data"]
        if page["next"] is None:
            return
        page = call("GET", "/v1/qrcodes", limit=100, after=page["next"], **filters)


def events(after=None, wait=0, **filters):
    """Events in order, each with the cursor after its page: store it, and go on there next time. `wait=30` follows the feed."""
    while True:
        cursor = {} if after is None else {"after": after}
        page = call("GET", "/v1/events", limit=1000, wait=wait, **cursor, **filters)
        after = page["next"]
        for event in page["data"]:
            yield event, after
        if wait == 0 and not page["has_more"]:
            return


def verify_webhook(body, headers, secret, tolerance_seconds=300):
    """The event of a request to a webhook; ValueError if its signature is wrong. `body` are the bytes that were received."""
    timestamp = headers["webhook-timestamp"]
    if abs(time.time() - int(timestamp)) > tolerance_seconds:
        raise ValueError("the request is too old")
    key = base64.b64decode(secret.removeprefix("whsec_"))
    content = f"{headers['webhook-id']}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, content, hashlib.sha256)).decode()
    if not any(hmac.compare_digest(expected, given) for given in headers["webhook-signature"].split(" ")):
        raise ValueError("the signature is not of this secret and body")
    return json.loads(body)


def main():
    code = call("POST", "/v1/qrcodes", {"name": "Menu", "destination_url": "https://example.com/spring"})
    print("created", code["short_url"])
    changed = call("PATCH", "/v1/qrcodes/" + code["id"], {"destination_url": "https://example.com/summer"})
    print("leads to", changed["destination_url"])
    print("codes:", ", ".join(listed["name"] for listed in all_codes(status="active", sort="name")))
    for event, _ in events(types="code.created,code.updated", qr_id=code["id"]):
        print(event["type"], event["data"]["field"])
    try:
        call("GET", "/v1/qrcodes/qr_none")
    except ScanlogError as error:
        print(error.status, error.code)


if __name__ == "__main__":
    main()
