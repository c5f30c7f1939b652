"""Claims on requests: one worker at a time, in order, and none left after its worker has ended."""

from hypothesis import given
from hypothesis import strategies as st

from resources.workers.request_claims import RequestClaims


def test_claim_is_granted_when_the_earlier_one_is_released() -> None:
    claims: RequestClaims[str] = RequestClaims()
    assert [claims.claim(worker, 0, "k") for worker in "abc"] == [True, False, False]
    assert claims.release("a", 0, "k") == ("b", 0)
    assert claims.release("b", 0, "k") == ("c", 0)
    assert claims.release("c", 0, "k") is None


def test_waiting_worker_that_releases_its_claim_does_not_get_the_request() -> None:
    claims: RequestClaims[str] = RequestClaims()
    for worker in "abc":
        claims.claim(worker, 0, "k")
    assert claims.release("b", 0, "k") is None
    assert claims.release("a", 0, "k") == ("c", 0)


def test_was_released_is_true_only_after_a_claim_on_the_request_was_released() -> None:
    claims: RequestClaims[str] = RequestClaims()
    claims.claim("a", 0, "k")
    assert not claims.was_released("k")
    claims.release("a", 0, "k")
    assert claims.was_released("k") and not claims.was_released("j")


def test_claims_on_different_requests_are_independent() -> None:
    claims: RequestClaims[str] = RequestClaims()
    assert claims.claim("a", 0, "k") and claims.claim("b", 0, "j")


places = st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.sampled_from("kj"))


@given(st.lists(places, unique=True), st.permutations("abc"))
def test_first_claim_of_the_remaining_workers_is_granted_after_a_worker_leaves(claimed, ending) -> None:
    claims: RequestClaims[str] = RequestClaims()
    granted = {
        (worker, number, digest) for worker, number, digest in claimed if claims.claim(worker, number, digest)
    }
    for place, worker in enumerate(ending):
        following = claims.release_all(worker)
        granted |= {each for each in claimed if each[:2] in following}
        for digest in "kj":
            left = [each for each in claimed if each[2] == digest and each[0] in ending[place + 1 :]]
            assert not left or left[0] in granted
    assert not claims._queues
