"""Rewards for trainers, by trainer. Each module imports its trainer only when it is used.

All of them keep one rule: what must not be scored has no number. Where a trainer has a word for that
(TRL: None) it is used; where it has none, the adapter raises or drops the sample, never scores it 0.
"""
