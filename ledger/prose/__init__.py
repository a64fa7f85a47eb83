"""Sentences that a library checks: readings, claims, and the findings where they disagree.

Knows pages and values, and nothing of GPUs.
"""
