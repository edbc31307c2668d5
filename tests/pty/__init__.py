"""Tests on a real pseudo-terminal."""
