"""Who may see which documents: a view of a generation for a set of groups, the same for all who may see the same."""

from __future__ import annotations

from collections.abc import Iterable

from pincite.core.arguments import word
from pincite.errors import InvalidInputError
from pincite.store.catalog import Catalog
from pincite.store.snapshot import Snapshot

__all__ = ["Views", "checked_groups"]

_State = tuple[int, int]
_REMEMBERED = 64
"""Views that are kept."""


def checked_groups(groups: Iterable[str], name: str = "groups") -> frozenset[str]:
    """Return groups as a set.

    Raises
    ------
    InvalidInputError
        If it is a single text or no list at all, or one of them is no text, or blank.
    """
    if not isinstance(groups, Iterable):
        raise InvalidInputError(f"{name} is {groups!r}, wanted a list of groups, such as ['staff']")
    if isinstance(groups, (str, bytes)):
        raise InvalidInputError(f"{name} is {groups!r}, wanted a list of groups, such as [{groups!r}]")
    found = frozenset(word(group, name) for group in groups)
    if any(not group.strip() for group in found):
        raise InvalidInputError(f"{name} holds a blank name")
    return found


class Views:
    """What each set of groups sees of an index. Safe to use from any thread.

    A document is seen by whoever is in one of its groups; one without groups, by nobody who comes with groups.

    Parameters
    ----------
    catalog : Catalog
    version : int, optional
        That is read whether it serves or not. Where it does not, documents that say something else by now in the one
        that does are seen by nobody who comes with groups: those are about what they say now.
    """

    def __init__(self, catalog: Catalog, *, version: int | None = None) -> None:
        self._catalog = catalog
        self._version = version
        # No lock, which a fork might find held: each of these is replaced, or looked up, in one step.
        self._known: tuple[_State, dict[str, frozenset[str]]] = ((-1, -1), {})
        self._views: dict[tuple[_State, int, frozenset[str]], Snapshot] = {}

    def of(self, snapshot: Snapshot, groups: Iterable[str] | None) -> Snapshot:
        """Return what groups see of a generation, by who may see what now.

        Parameters
        ----------
        snapshot : Snapshot
        groups : iterable of str or None
            None sees everything, where there are no groups.

        Raises
        ------
        InvalidInputError
            As `checked` does.
        """
        asked = self.checked(groups)
        if asked is None:
            return snapshot
        state, access = self._now()
        key = (state, snapshot.generation, asked)
        view = self._views.get(key)
        if view is None:
            failed = sum(bool(access.get(failure.id, frozenset()) & asked) for failure in self._catalog.failures())
            view = snapshot.permitted(lambda id: bool(access.get(id, frozenset()) & asked), failed)
            # Of other epochs and generations none is asked for again.
            kept = {old: seen for old, seen in self._views.items() if old[:2] == key[:2]}
            self._views = {**(kept if len(kept) < _REMEMBERED else {}), key: view}
        return view

    def may_see(self, id: str, groups: Iterable[str] | None) -> bool:
        """Return whether groups may see a document; raises what `checked` raises."""
        asked = self.checked(groups)
        return asked is None or bool(self._now()[1].get(id, frozenset()) & asked)

    def checked(self, groups: Iterable[str] | None) -> frozenset[str] | None:
        """Return groups as a set; None sees everything.

        Raises
        ------
        InvalidInputError
            If the index has groups and None are given, or they are no list of names.
        """
        if groups is not None:
            return checked_groups(groups)
        if self._catalog.epoch():
            raise InvalidInputError(
                "the index has groups and none were given; give groups=[...] of the asker ([] sees nothing)"
            )
        return None

    def forget(self) -> None:
        """Hold no generation any more."""
        self._views = {}

    def _now(self) -> tuple[_State, dict[str, frozenset[str]]]:
        """Return the access as it is now, with what it depends on: a grant that was taken back outlives no question."""
        known = self._known
        if known[0] == self._state():
            return known
        with self._catalog.reading():
            state, (_, access) = self._state(), self._catalog.access()
            serving = self._catalog.serving()
            if self._version not in {None, serving}:
                same = self._catalog.same_in(serving, self._version or serving)
                access = {id: groups for id, groups in access.items() if id in same}
        known = self._known = (state, access)
        return known

    def _state(self) -> _State:
        """Return the permission epoch and, where a version is read that may not serve, the last generation of all."""
        return self._catalog.epoch(), -1 if self._version is None else self._catalog.last_generation()
