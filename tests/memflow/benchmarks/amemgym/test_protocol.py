"""AMemGym's protocol points are complete: every known difference between paper, published code and memflow has one."""

from dataclasses import replace

import pytest

from memflow.benchmarks import registry
from memflow.benchmarks.protocol import with_profile


@pytest.mark.parametrize(
    ("profile", "user_model", "dates", "temperature"),
    [
        ("published", "published_code", False, 0.2),
        ("paper", "paper", False, None),
        ("memflow", "paper", True, None),
    ],
)
def test_profile_of_published_users_sets_user_model_dates_and_temperature(
    profile, user_model, dates, temperature
) -> None:
    protocol = registry.protocol("amemgym")
    domain = with_profile(registry.find_domain("amemgym_base"), protocol.points, profile)
    config = protocol.parameters.model_validate(dict(domain.parameters))
    assert (config.user_model, config.dates_in_notes) == (user_model, dates)
    decoding = domain.decoding.get("simulator")
    assert (decoding.temperature if decoding else None) == temperature


def test_published_profile_sets_20_refinements_for_generated_users_only() -> None:
    points = registry.protocol("amemgym").points
    generated = with_profile(registry.find_domain("amemgym_base_generated"), points, "published")
    assert generated.parameters["refinements"] == 20
    assert (
        "refinements"
        not in with_profile(registry.find_domain("amemgym_base"), points, "published").parameters
    )


def test_published_profile_keeps_the_rounds_of_the_extra_setting() -> None:
    extra = registry.find_domain("amemgym_extra")
    published = with_profile(extra, registry.protocol("amemgym").points, "published")
    rounds = ("rounds_init", "rounds_update")
    assert [published.parameters[name] for name in rounds] == [extra.parameters[name] for name in rounds]


def test_off_policy_domain_has_no_points_of_the_user_model() -> None:
    off = replace(registry.find_domain("amemgym_base_offpolicy"))
    concerned = {point.name for point in registry.protocol("amemgym").points if point.concerns(off)}
    assert "off_policy_trace" in concerned and not concerned & {"user_model", "user_date", "user_temperature"}
