"""Which APIs a CANN release does not have yet."""

from __future__ import annotations

from opscan.matrix.data import matrix_roots
from opscan.matrix.later import apis_of_later_releases


def test_an_api_of_a_later_release_is_lacking() -> None:
    at_9_1 = apis_of_later_releases(matrix_roots(), "9.1.0", "ascend910b")
    assert "aclnnGRU" in at_9_1
    assert "aclnnLSTM" not in at_9_1  # since 9.0.0
    assert "aclnnAdd" not in at_9_1
    assert "aclnnLSTM" in apis_of_later_releases(matrix_roots(), "8.5.0", "ascend910b")


def test_nothing_is_known_to_be_lacking_in_the_newest_release_or_in_one_without_a_table() -> None:
    assert apis_of_later_releases(matrix_roots(), "9.2.0-beta.1", "ascend910b") == frozenset()
    assert apis_of_later_releases(matrix_roots(), "8.0.0", "ascend910b") == frozenset()
