"""Claims on requests: one owner at a time, in order, and none left after its owner has ended."""

from hypothesis import given
from hypothesis import strategies as st

from resources.request_claims import RequestClaims


def test_claim_is_granted_when_the_earlier_one_is_released() -> None:
    claims = RequestClaims()
    first, second, third = (claims.claim(owner, "k") for owner in "abc")
    assert [each.done() for each in (first, second, third)] == [True, False, False]
    claims.release("a", "k")
    assert second.done() and not third.done()
    claims.release("b", "k")
    assert third.done()


def test_released_claim_that_was_not_granted_is_passed_over() -> None:
    claims = RequestClaims()
    _, second, third = (claims.claim(owner, "k") for owner in "abc")
    claims.release("b", "k")
    assert not second.done() and not third.done()
    claims.release("a", "k")
    assert third.done() and not second.done()


def test_claims_on_different_requests_are_independent() -> None:
    claims = RequestClaims()
    assert claims.claim("a", "k").done() and claims.claim("b", "j").done()


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("kj")), unique=True), st.permutations("abc")
)
def test_ended_owners_leave_no_claims(claimed: list[tuple[str, str]], ending: list[str]) -> None:
    claims = RequestClaims()
    granted = {claim: claims.claim(*claim) for claim in claimed}
    for place, owner in enumerate(ending):
        claims.release_all(owner)
        for digest in "kj":
            alive = [claim for claim in claimed if claim[1] == digest and claim[0] in ending[place + 1 :]]
            assert not alive or granted[alive[0]].done()
    assert not claims._queues
