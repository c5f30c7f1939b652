"""Headers with which servers ask their clients to wait."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.resources.endpoints.rate_limits import retry_after, seconds_until_reset


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after-ms": "-1", "retry-after": "7"}, 7),
        ({"retry-after": "6m0.5s"}, 360.5),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        ({"retry-after": "soon"}, 0),
        ({"retry-after": "nan"}, 0),
        ({"retry-after": "-5"}, 0),
    ],
)
def test_retry_after_returns_seconds_for_every_header_format(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(headers) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "59.5s"}, 59.5),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "2s"}, 0),
        ({"x-ratelimit-remaining-requests": "-1", "x-ratelimit-reset-requests": "2s"}, 0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "30"}, 30),
        ({"x-ratelimit-remaining": "0"}, 0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "6h"}, 0),
    ],
)
def test_seconds_until_reset_counts_only_limits_that_are_used_up(
    headers: dict[str, str], seconds: float
) -> None:
    assert seconds_until_reset(headers) == pytest.approx(seconds)


def test_seconds_until_reset_reads_epochs_and_rfc_3339_dates() -> None:
    until = datetime.now(UTC) + timedelta(seconds=50)
    for remaining, reset, value in (
        ("x-ratelimit-remaining", "x-ratelimit-reset", str(until.timestamp())),
        ("anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset", until.isoformat()),
    ):
        assert 45 < seconds_until_reset({remaining: "0", reset: value}) <= 50


@given(st.text(max_size=20))
def test_rate_limit_headers_give_finite_seconds_for_any_value(value: str) -> None:
    headers = {"retry-after": value, "x-ratelimit-remaining": "0", "x-ratelimit-reset": value}
    assert 0 <= retry_after(headers) < 1e12
    assert 0 <= seconds_until_reset(headers) < 1e12
