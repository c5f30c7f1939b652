"""Addresses in messages, and addresses with credentials."""

import pytest

from memflow.errors import BadSettings
from memflow.resources.endpoints.addresses import display_address, has_credentials
from memflow.resources.settings.settings import load


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1"),
        ("https://me:secret@host/v1", "https://host/v1"),
        ("https://me:se@cret@host:8/v1?key=secret#x", "https://host:8/v1"),
        ("https://host/accounts/@cf/v1", "https://host/accounts/@cf/v1"),
        ("me:secret@host", "host"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1"),
        ("http://[bad", "http://[bad"),
        ("", ""),
    ],
)
def test_display_address_contains_no_user_password_or_query(url: str, shown: str) -> None:
    assert display_address(url) == shown
    assert has_credentials(url) == ("@host" in url and "://" in url)


def test_settings_reject_a_password_in_an_address_without_repeating_it(tmp_path) -> None:
    file = tmp_path / "memflow.toml"
    for section in ("[models.m]", "[embedder]\nkind = 'endpoint'"):
        file.write_text(f"{section}\nmodel = 'a'\nurl = 'https://me:topsecret@host/v1'\n", encoding="utf-8")
        with pytest.raises(BadSettings, match="https://host/v1 contains a user or password") as caught:
            load(file)
        assert "topsecret" not in f"{caught.value} {caught.value.__cause__}"
