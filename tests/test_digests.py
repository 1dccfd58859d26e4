"""The digest of what a pack brings: the same for the same, and another for anything else."""

from __future__ import annotations

from hookctl.system.files import content_digest

BROUGHT = [
    (b"", {}), (b"a", {}), (b"", {"a": b""}), (b"", {"": b"a"}), (b"a", {"b": b"c"}), (b"ab", {"": b"c"}),
    (b"a", {"bc": b""}), (b"a", {"b": b"", "c": b""}), (b"0:1:", {}), (b"", {"x\udc80": b"a"}),
]  # fmt: skip


def test_no_part_is_taken_for_another() -> None:
    assert len({content_digest(manifest, files) for manifest, files in BROUGHT}) == len(BROUGHT)


def test_the_order_of_files_does_not_count() -> None:
    assert content_digest(b"m", {"a": b"1", "b": b"2"}) == content_digest(b"m", {"b": b"2", "a": b"1"})
