"""Reads the Content Credentials of files with the reference implementation; prints a list of what it says of each."""

import json
import sys

import c2pa

anchors, *files = sys.argv[1:]
trusting = {"trust": {"trust_anchors": open(anchors).read()}}


def read(path: str, media_type: str, settings: dict) -> dict:
    context = c2pa.Context(c2pa.Settings.from_dict(settings) if settings else c2pa.Settings())
    with open(path, "rb") as file:
        report = json.loads(c2pa.Reader(media_type, file, context=context).json())
    results = report["validation_results"]["activeManifest"]
    return {
        "state": report["validation_state"],
        "manifests": len(report["manifests"]),
        "codes": sorted({entry["code"] for kind in results.values() for entry in kind}),
        "manifest": report["manifests"][report["active_manifest"]],
    }


def say(path: str, media_type: str) -> dict:
    try:
        return {"alone": read(path, media_type, {}), "trusting": read(path, media_type, trusting)}
    except Exception as error:
        return {"error": repr(error)}


print(json.dumps([say(*file.split("=")) for file in files]))
