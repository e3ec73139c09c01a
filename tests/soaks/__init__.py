"""Long runs by hand, ``nox -s soak -- permissions`` or ``revocations``, that no change can wait for."""
