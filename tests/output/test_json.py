from __future__ import annotations

import json


def test_all_that_is_known_of_a_finding(render):
    discarded, mixed, elsewhere = json.loads(render("json"))
    assert mixed == {
        "code": "DEV101",
        "name": "mixed-device-op",
        "severity": "error",
        "confidence": "certain",
        "message": "`weight` is on cuda:0 and `shift` on the host",
        "filename": "src/train.py",
        "location": {"row": 9, "column": 16},
        "end_location": {"row": 9, "column": 30},
        "trace": [
            {
                "message": "`weight` is created on cuda:0",
                "filename": "src/train.py",
                "location": {"row": 5, "column": 14},
            },
            {
                "message": "`shift` is created on the host, the default device",
                "filename": "src/train.py",
                "location": {"row": 7, "column": 17},
            },
        ],
        "assumptions": [],
        "fix": None,
        "url": None,
        "cell": None,
        "fingerprint": "f1",
    }
    assert discarded["assumptions"] == [
        {
            "kind": "tensor",
            "message": "`shift` is a tensor",
            "filename": "src/train.py",
            "location": {"row": 7, "column": 9},
        },
        {
            "kind": "condition",
            "message": "`debug` holds",
            "filename": "src/train.py",
            "location": {"row": 8, "column": 9},
        },
    ]
    assert discarded["fix"] == {
        "message": 'Assign the result: `shift = shift.to("cuda")`',
        "applicability": "safe",
        "edits": [
            {"content": "shift = ", "location": {"row": 8, "column": 9}, "end_location": {"row": 8, "column": 9}}
        ],
    }
    assert (elsewhere["severity"], elsewhere["confidence"]) == ("info", "possible")


def test_nothing_found_is_an_empty_list(render):
    assert json.loads(render("json", [])) == []
